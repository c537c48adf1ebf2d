package probe

import (
	"path"
	"slices"
)

// Families lists the families of the checks, in their order.
func Families(checks []Check) []string {
	var out []string
	for _, c := range checks {
		if !slices.Contains(out, c.Family) {
			out = append(out, c.Family)
		}
	}
	return out
}

// Choose returns the checks whose name matches a glob, as path.Match reads it.
func Choose(checks []Check, glob string) ([]Check, error) {
	var out []Check
	for _, c := range checks {
		hit, err := path.Match(glob, c.Name)
		if err != nil {
			return nil, err
		}
		if hit {
			out = append(out, c)
		}
	}
	return out, nil
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
