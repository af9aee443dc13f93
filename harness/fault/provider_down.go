package fault

import "context"

// providerDown closes the provider's listener and its connections; its ledger stays.
var providerDown = Kind{
	Name:  "provider-down",
	Story: "the payment provider refuses connections",
	Sees:  "5xx on checkout; other routes as ever",
	Holds: "no charge is acknowledged that was not made",
	On:    onlyProvider,
	Strike: func(_ Spec, w World) (Strike, error) {
		if w.Provider == nil {
			return nil, errNoProvider
		}
		return &service{
			stop:  func(context.Context) error { return w.Provider.Down() },
			start: w.Provider.Up,
		}, nil
	},
}
