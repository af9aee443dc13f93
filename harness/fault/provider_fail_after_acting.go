package fault

// providerFailAfterActing lies: the customer is charged, and the server is told that it failed.
var providerFailAfterActing = Kind{
	Name:  "provider-fail-after-acting",
	Story: "the payment provider makes the charge and answers a share of the calls with 500 all the same",
	Sees:  "5xx on checkout over a charge that was made",
	Holds: "the forwarded key keeps it at one charge, whatever is retried",
	On:    onlyProvider,
	Strike: onProvider(func(s Spec) manners {
		return manners{delay: s.Delay, failShare: s.shareOrAll(), afterActing: true}
	}),
}
