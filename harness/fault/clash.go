package fault

// clash says why two faults that strike different things make no sense at one time; "" when they do.
func (s Spec) clash(o Spec) string {
	s, o = s.complete(), o.complete()
	switch {
	case s.At >= o.end() || o.At >= s.end():
		return ""
	case s.disputes(o):
		return "one of them takes from the other the database that it works on"
	}
	return ""
}

// disputes says whether one of two faults takes from the other the database that it works on.
func (s Spec) disputes(o Spec) bool {
	return s.deniesDatabase() && o.usesDatabase() || o.deniesDatabase() && s.usesDatabase()
}

// deniesDatabase says whether the harness itself may not get to the tables, or not change them, while the fault lasts.
func (s Spec) deniesDatabase() bool { return s.On == Postgres || s.On == Table }

// usesDatabase says whether the fault is something that the harness does to the tables.
func (s Spec) usesDatabase() bool { return s.On == Jobs || s.On == Records || s.On == Table }
