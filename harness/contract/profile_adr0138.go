package contract

// profileADR0138 is the contract of the bundled server, section 4, for somebody else's server that follows it.
var profileADR0138 = Profile{
	Name:   "adr0138",
	Title:  "ADR-0138: a failed key stays failed",
	Source: "the idempotency contract of this project, section 4",
	Format: "uuid4",
	Marker: Marker{Header: "Idempotency-Replayed", Value: "true"},
	Rows: []Promise{
		{Situation: FirstUse, Does: Executes, Source: "4"},
		{Situation: Repeated, Does: Replays, Source: "4; the body may gain \"idempotency_replayed\": true"},
		{Situation: OtherRequest, Does: Refuses, Status: []int{422}, Code: "idempotency_key_body_mismatch", Source: "4"},
		{Situation: OtherInFlight, Does: Refuses, Status: []int{422}, Code: "idempotency_key_body_mismatch", Source: "4, the hash is looked at before the status"},
		{Situation: SameInFlight, Does: Refuses, Status: []int{409}, Code: "idempotency_in_flight", Source: "4"},
		{Situation: AfterRefusal, Does: Refuses, Status: []int{409}, Code: "idempotency_previous_failed", Source: "4"},
		{Situation: AfterFailure, Does: Refuses, Status: []int{409}, Code: "idempotency_previous_failed", Source: "4"},
		{Situation: KeyMissing, Does: Executes, Source: "4, handled as if there were no middleware"},
		{Situation: KeyMalformed, Does: Refuses, Status: []int{400}, Source: "4"},
		{Situation: StoreUnreachable, Does: Refuses, Status: []int{503}, Source: "4, tier 1"},
		{Situation: OtherUser, Does: Executes, Source: "1, the scope is user and endpoint"},
	},
}
