package fault

import "errors"

// providerSlow makes charges take long; they are made all the same.
var providerSlow = Kind{
	Name:   "provider-slow",
	Story:  "the payment provider takes delay for each charge",
	Sees:   "checkout answers later; 5xx past the deadline",
	Holds:  "one charge for each key; orders do not wait for the provider",
	On:     onlyProvider,
	Strike: onProvider(func(s Spec) manners { return manners{delay: s.Delay} }),
	Check: func(s Spec) error {
		if s.Delay <= 0 {
			return errors.New("delay: provider-slow needs a positive delay")
		}
		return nil
	},
}
