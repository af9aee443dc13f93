package subject

import "time"

// Described completes a target whose fields a program has set, as ParseTarget does for those of a file: defaults are filled in, and what cannot
// be run is refused by an error that begins with the field. name stands where reports and errors name the file.
func (t Target) Described(name string) (Target, error) {
	t = t.withDefaults()
	if err := t.Validate(); err != nil {
		return Target{}, err
	}
	t.file, t.given = name, name
	t.began = time.Now().UTC().Truncate(time.Second)
	return t, nil
}
