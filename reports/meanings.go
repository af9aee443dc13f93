package reports

// meanings says what each invariant of contract section 8 asks, in the words of someone who has never read the contract. An
// invariant that is not in the list is shown without a meaning.
var meanings = map[string]string{
	"at-most-once":       "One key, used by one user on one endpoint, executes at most once: in orders, audit rows and the payment provider's ledger alike.",
	"order-audit-match":  "Every order has exactly one business audit row, and every such row has its order.",
	"acked-durable":      "Whatever was answered with success, fresh or replayed, is backed by exactly one order once every fault has healed.",
	"nothing-unclaimed":  "Nothing executes with a key and without a record of that key.",
	"replay-fidelity":    "A replayed answer equals the original in code and body.",
	"replay-audited":     "Every replay leaves one audit row, with the original request hash and code.",
	"mismatch-rejected":  "Another body under a used key neither executes nor gets the stored answer; the same body in another spelling is not refused.",
	"scope-isolated":     "No user and no endpoint sees another's record.",
	"fail-closed":        "While the key store is out, a money route answers 503 and executes nothing.",
	"fail-open":          "While the key store is out, a route that may proceed without it does proceed.",
	"legal-transitions":  "The answers of each key are an order that the contract's state machine allows.",
	"recovers":           "When faults end, every key reaches a final answer within the stated bound.",
	"zombie-fenced":      "A worker that outlived its claim commits nothing.",
	"resources-return":   "When faults have ended, servers hold no more goroutines, connections and database sessions than before.",
	"money-conserved":    "Cash and positions equal the sum of the orders.",
	"retention":          "Records live as long as promised, 7 days at most; cleanup removes only what expired.",
	"erasure":            "After a user's erasure none of the user's records is left, and none comes back.",
	"gates-respected":    "While a gate is closed, nothing is claimed and nothing executes.",
	"no-secrets":         "No credential stands in a stored answer or in a log.",
	"metrics-agree":      "The server's counters equal what the history says.",
	"malformed-rejected": "A malformed key is answered with 400, leaves no record and executes nothing; nor does a request that was never sent whole.",

	// Of somebody else's server: the rows of its contract's table, and its evidence.
	"answer-fresh":              "A key that nobody has used is executed.",
	"answer-replay":             "The same request again gets what the contract says: the first answer, with its marker if there is one.",
	"answer-mismatch":           "Another body under a used key is answered as the contract says.",
	"answer-mismatch_in_flight": "Another body, while the first request still runs, is answered as the contract says.",
	"answer-in_flight":          "A duplicate, while the first request still runs, is refused or waits, as the contract says.",
	"answer-after_4xx":          "The same request again, after a refusal, is answered as the contract says.",
	"answer-after_5xx":          "The same request again, after a failure, is answered as the contract says.",
	"answer-missing_key":        "A request without a key is treated as the contract says.",
	"answer-malformed_key":      "A request with a malformed key is treated as the contract says.",
	"answer-store_down":         "While the database cannot be reached, requests are answered as the contract says.",
	"answer-other_user":         "A used key, sent by another user, is treated as the contract says.",
	"evidence-agrees":           "All sources of evidence count the same executions; which of them is wrong, they do not say.",
}
