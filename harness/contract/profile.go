package contract

import "slices"

// Profile is a known way to treat keys: what each situation is answered, as a table. docs/profiles.md shows them.
type Profile struct {
	Name   string
	Title  string
	Source string // the text that it follows
	Format string // of keys, as target files name it
	Marker Marker
	Rows   []Promise // one for each of Situations, in that order
}

// Profiles are all that a target file may name.
var Profiles = []Profile{profileADR0138, profileIETF, profileStripe}

// FindProfile finds a profile by its name.
func FindProfile(name string) (Profile, bool) {
	i := slices.IndexFunc(Profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return Profiles[i], true
}

// ProfileNames are the names in order.
func ProfileNames() (names []string) {
	for _, p := range Profiles {
		names = append(names, p.Name)
	}
	return names
}

// Row is what the profile says about a situation.
func (p Profile) Row(s Situation) Promise {
	i := slices.IndexFunc(p.Rows, func(r Promise) bool { return r.Situation == s })
	if i < 0 {
		return Promise{Situation: s}
	}
	return p.Rows[i]
}

// With is the profile with some rows replaced.
func (p Profile) With(rows ...Promise) Profile {
	p.Rows = slices.Clone(p.Rows)
	for _, row := range rows {
		for i := range p.Rows {
			if p.Rows[i].Situation == row.Situation {
				p.Rows[i] = row
			}
		}
	}
	return p
}

// anyFailure are the statuses of a server that cannot reach its database.
var anyFailure = []int{500, 502, 503, 504}
