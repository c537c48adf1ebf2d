package record

import "slices"

// EnvItem is one fact a number may depend on. Exactly one of Value and
// Unavailable is set.
type EnvItem struct {
	Key         string `json:"key"`
	Value       string `json:"value,omitempty"`
	Unavailable string `json:"unavailable,omitempty"` // reason
	// Compare says which metrics need this to be equal before two results are
	// compared: exact (all of them), sampled (timings only), or empty (told, not compared).
	Compare Kind `json:"compare,omitempty"`
}

// Environment lists the facts in the order they are shown.
type Environment []EnvItem

// Get returns the value of key, and false when it is absent or unavailable.
func (e Environment) Get(key string) (string, bool) {
	for _, it := range e {
		if it.Key == key {
			return it.Value, it.Unavailable == ""
		}
	}
	return "", false
}

// Mismatch lists the keys that differ between two environments, in either, among
// those that comparisons of metrics of kind k depend on. Sampled metrics depend
// on the exact keys too.
func (e Environment) Mismatch(other Environment, k Kind) []string {
	keys := e.differing(other, k)
	for _, key := range other.differing(e, k) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (e Environment) differing(other Environment, k Kind) []string {
	var keys []string
	for _, it := range e {
		if it.Compare == "" || (k == Exact && it.Compare != Exact) {
			continue
		}
		v, _ := other.Get(it.Key)
		if v != it.Value {
			keys = append(keys, it.Key)
		}
	}
	return keys
}
