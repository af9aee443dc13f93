package fault

// providerFail refuses a share of the charges; nothing is charged by those.
var providerFail = Kind{
	Name:   "provider-fail",
	Story:  "the payment provider answers a share of the charges with 500 and makes none of them",
	Sees:   "5xx on checkout; 409 previous-failed on retry",
	Holds:  "no charge, and none acknowledged",
	On:     onlyProvider,
	Strike: onProvider(func(s Spec) manners { return manners{delay: s.Delay, failShare: s.shareOrAll()} }),
}
