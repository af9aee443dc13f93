package zoo

// Exploration is the constellation in which `idemstorm explore` convicts a variant, by some order of the statements or by a
// failure at one of them. Its words are the command's: the case, and flags of the same names.
type Exploration struct {
	// Case is what meets. It is empty where faults strike a single request.
	Case string
	// Faults strike at every statement of one request, in this order; none explores the orders of statements instead.
	Faults []string
	// Route is what is asked for; empty for an order.
	Route string
	// Requests is how many race; 0 for as many as the command takes by itself.
	Requests int
	// Preemptions bounds how often an order may switch away from a request that could go on; 0 leaves it to the command. The
	// fewest come first, which finds sooner what needs one request to get far.
	Preemptions int
	// Shared puts all requests on one server process, for state that a process keeps.
	Shared bool
	// Replayed strikes a duplicate of a completed request instead of a first one.
	Replayed bool
	// Invariant is what breaks first here, where that is not the variant's own: a single key shows a part of the harm.
	Invariant string
}

// Convicts is the invariant whose violation convicts the variant when it is explored.
func (v Variant) Convicts() string {
	if v.Explore != nil && v.Explore.Invariant != "" {
		return v.Explore.Invariant
	}
	return v.Invariant
}
