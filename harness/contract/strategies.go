package contract

// Claims says what a subject's claims do otherwise than the contract's, which are rows that everyone sees and that outlive their worker.
type Claims struct {
	// EndWithWorker: a claim goes when its worker does, so that the next attempt may execute at once, and none is found stale.
	EndWithWorker bool `json:"end_with_worker,omitempty"`
	// HideBody: whoever meets a claim in flight does not see what was claimed, so that another body is answered as in flight.
	HideBody bool `json:"hide_body,omitempty"`
}

// Strategy is a way of claiming that the bundled server can be started with.
type Strategy struct {
	Name   string
	Claims Claims
	Redis  bool   // it needs one
	Weaker string // what it promises less than the others, in one sentence; "" for nothing
}

// Strategies are all of them; the first is what the server does when it is told nothing.
var Strategies = []Strategy{
	{Name: "insert-first"},
	{Name: "insert-or-read"},
	{Name: "in-transaction", Claims: Claims{EndWithWorker: true, HideBody: true}},
	{Name: "row-lock", Claims: Claims{EndWithWorker: true}},
	{Name: "advisory-lock", Claims: Claims{EndWithWorker: true, HideBody: true}},
	{Name: "serializable"},
	{
		Name: "redis", Claims: Claims{EndWithWorker: true}, Redis: true,
		Weaker: "Redis decides, and may forget: after its crash, or when a claim outlives its lock, two workers execute at once, and only PostgreSQL's constraint keeps the second from committing",
	},
}

// FindStrategy finds a strategy by its name; "" is the first.
func FindStrategy(name string) (Strategy, bool) {
	for i, s := range Strategies {
		if s.Name == name || (name == "" && i == 0) {
			return s, true
		}
	}
	return Strategy{}, false
}

// StrategyNames are the names in order.
func StrategyNames() []string {
	var names []string
	for _, s := range Strategies {
		names = append(names, s.Name)
	}
	return names
}

// NeverArises says why the situation that an invariant is about cannot come up where claims are like these; "" where it can. A run that has
// nothing of it to show then lacks no data. What does come up is judged all the same.
func (c Claims) NeverArises(invariant string) (why string) {
	if c.EndWithWorker && invariant == "zombie-fenced" {
		return "a claim ends with the worker that holds it here, so that none is ever retired as stale while its worker lives"
	}
	return ""
}
