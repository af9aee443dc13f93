package check

// IDs names every invariant, in the order of the report.
func IDs() []string {
	var out []string
	for _, inv := range Invariants {
		out = append(out, inv.ID)
	}
	return out
}

// Known reports whether an invariant of that name is judged.
func Known(id string) bool {
	for _, inv := range Invariants {
		if inv.ID == id {
			return true
		}
	}
	for _, inv := range foreignInvariants {
		if inv.ID == id {
			return true
		}
	}
	return false
}
