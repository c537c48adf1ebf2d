package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// Keys that are compared beside those of the environment.
const (
	KeyDigest = "scenario_digest" // of the scenario's text
	KeySmoke  = "smoke"           // a smoke run is another workload
)

// IncomparableError is two results of which nothing can be compared.
type IncomparableError struct {
	Scenario string
	Base     string // path
	New      string
	Keys     []KeyDiff // those that differ and are not allowed to
}

func (e *IncomparableError) Error() string {
	var what, names []string
	for _, k := range e.Keys {
		what = append(what, fmt.Sprintf("%s (%s against %s)", k.Key, k.Base, k.New))
		names = append(names, k.Key)
	}
	return fmt.Sprintf("%s: %s and %s cannot be compared, for even counts depend on what differs: %s\n  measure both alike, or accept it with --allow-env-mismatch %s",
		e.Scenario, e.Base, e.New, strings.Join(what, ", "), strings.Join(names, ","))
}

// envDiff lists the keys that differ and that comparisons depend on, the exact
// ones first.
func envDiff(base, next *record.Result, allow []string) []KeyDiff {
	var out []KeyDiff
	add := func(key, b, n string, kind record.Kind) {
		out = append(out, KeyDiff{key, b, n, kind, slices.Contains(allow, key)})
	}
	bs, ns := base.Header.Scenario, next.Header.Scenario
	if bs.Digest != ns.Digest {
		add(KeyDigest, short(bs.Digest), short(ns.Digest), record.Exact)
	}
	if bs.Smoke != ns.Smoke {
		add(KeySmoke, fmt.Sprint(bs.Smoke), fmt.Sprint(ns.Smoke), record.Exact)
	}
	be, ne := base.Header.Environment, next.Header.Environment
	exact := be.Mismatch(ne, record.Exact)
	for _, k := range exact {
		add(k, envWords(be, k), envWords(ne, k), record.Exact)
	}
	for _, k := range be.Mismatch(ne, record.Sampled) {
		if !slices.Contains(exact, k) {
			add(k, envWords(be, k), envWords(ne, k), record.Sampled)
		}
	}
	return out
}

func short(digest string) string {
	if digest == "" {
		return "none"
	}
	return digest[:min(len(digest), 12)]
}

func envWords(e record.Environment, key string) string {
	for _, it := range e {
		switch {
		case it.Key != key:
		case it.Unavailable != "":
			return "unavailable"
		default:
			return it.Value
		}
	}
	return "not recorded"
}

// refused lists the keys of a kind that differ without leave.
func refused(keys []KeyDiff, kind record.Kind) []KeyDiff {
	return slices.DeleteFunc(slices.Clone(keys), func(k KeyDiff) bool { return k.Allowed || k.Kind != kind })
}

// keyNames joins the names of keys.
func keyNames(keys []KeyDiff) string {
	var names []string
	for _, k := range keys {
		names = append(names, k.Key)
	}
	return strings.Join(names, ", ")
}

// envNotes says what differing keys mean for the comparison.
func envNotes(keys []KeyDiff) []Warning {
	var out []Warning
	for _, k := range keys {
		text := fmt.Sprintf("%s differs (%s against %s): ", k.Key, k.Base, k.New)
		if k.Allowed {
			text += "compared all the same, as allowed"
		} else {
			text += "exact metrics are compared, sampled ones are not"
		}
		out = append(out, Warning{Level: LevelWarn, Code: CodeEnvironment, Text: text})
	}
	return out
}

// CodeEnvironment marks a note on an environment that differs.
const CodeEnvironment = "environment"
