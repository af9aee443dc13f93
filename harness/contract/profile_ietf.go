package contract

// profileIETF follows draft-ietf-httpapi-idempotency-key-header. What the draft leaves to the server is taken as its examples have it.
var profileIETF = Profile{
	Name:   "ietf",
	Title:  "The Idempotency-Key HTTP header field (IETF draft)",
	Source: "draft-ietf-httpapi-idempotency-key-header-06",
	Format: "quoted",
	Rows: []Promise{
		{Situation: FirstUse, Does: Executes, Source: "2.6, first time request"},
		{Situation: Repeated, Does: Replays, Source: "2.6, the result of the completed operation"},
		{Situation: OtherRequest, Does: Refuses, Status: []int{422}, Source: "2.7"},
		{Situation: OtherInFlight, Does: Refuses, Status: []int{409, 422}, Source: "2.7, both of its cases apply"},
		{Situation: SameInFlight, Does: Refuses, Status: []int{409}, Source: "2.7"},
		{Situation: AfterRefusal, Does: Replays, Source: "2.6, success or an error"},
		{Situation: AfterFailure, Does: Replays, Source: "2.6, success or an error"},
		{Situation: KeyMissing, Does: Refuses, Status: []int{400}, Source: "2.7"},
		{Situation: KeyMalformed, Does: Refuses, Status: []int{400}, Source: "2.1 with RFC 9651, 4.2: a field that cannot be parsed is ignored, so the key is missing"},
		{Situation: StoreUnreachable, Does: Refuses, Status: anyFailure, Source: "not in the draft: without its record no key can be kept"},
		{Situation: OtherUser, Does: Executes, Source: "5, keys are to be kept apart by client"},
	},
}
