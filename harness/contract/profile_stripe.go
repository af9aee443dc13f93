package contract

// profileStripe follows what Stripe documents of its API v1.
var profileStripe = Profile{
	Name:   "stripe",
	Title:  "Stripe's API v1: errors are replayed too",
	Source: "docs.stripe.com/api/idempotent_requests and /error-low-level",
	Format: "opaque",
	Marker: Marker{Header: "Idempotent-Replayed", Value: "true"},
	Rows: []Promise{
		{Situation: FirstUse, Does: Executes, Source: "idempotent requests"},
		{Situation: Repeated, Does: Replays, Source: "idempotent requests"},
		{Situation: OtherRequest, Does: Refuses, Status: []int{400}, Source: "idempotent requests: parameters are compared"},
		{Situation: OtherInFlight, Does: Refuses, Status: []int{400, 409}, Source: "idempotent requests: either comes first"},
		{Situation: SameInFlight, Does: Refuses, Status: []int{409}, Source: "low-level errors"},
		{Situation: AfterRefusal, Does: Replays, Source: "idempotent requests: regardless of success, once the endpoint has begun"},
		{Situation: AfterFailure, Does: Replays, Source: "idempotent requests: 500 errors too"},
		{Situation: KeyMissing, Does: Executes, Source: "idempotent requests: the header is optional"},
		{Situation: KeyMalformed, Does: Refuses, Status: []int{400}, Source: "idempotent requests: up to 255 characters"},
		{Situation: StoreUnreachable, Does: Refuses, Status: anyFailure, Source: "not documented: without its record no key can be kept"},
		{Situation: OtherUser, Does: Executes, Source: "keys belong to an account"},
	},
}
