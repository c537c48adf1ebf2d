package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// affect is a parsed entry of a finding's Affects.
type affect struct {
	transport string // empty: any
	strategy  string
	param     string // empty: whatever its params
	value     string // empty: any but those that mean off
}

var transports = []string{"tcp", "unix", "udp"}

// parseAffect reads "[TRANSPORT] STRATEGY [with PARAM[=VALUE]]".
func parseAffect(text string) (affect, error) {
	var a affect
	words := strings.Fields(text)
	if len(words) > 0 && slices.Contains(transports, words[0]) {
		a.transport, words = words[0], words[1:]
	}
	if len(words) != 1 && (len(words) != 3 || words[1] != "with") {
		return a, fmt.Errorf("affected cases %q: want [TRANSPORT] STRATEGY [with PARAM[=VALUE]]", text)
	}
	a.strategy = words[0]
	if len(words) == 3 {
		a.param, a.value, _ = strings.Cut(words[2], "=")
	}
	return a, nil
}

// off are the values of a param that mean that it does nothing.
var off = []string{"", "0", "false", "none", "never", Auto}

func (a affect) matches(strategy string, v Values, w record.Workload) bool {
	if a.strategy != strategy || a.transport != "" && a.transport != w.Transport {
		return false
	}
	switch got := v[a.param]; {
	case a.param == "":
		return true
	case a.value == "":
		return !slices.Contains(off, got)
	default:
		return got == a.value
	}
}

// faultOf returns the first fault, present on the machine that runs the trials,
// that makes a case wrong.
func faultOf(p *record.Probe, strategy string, v Values, w record.Workload) (record.Finding, bool) {
	if p == nil {
		return record.Finding{}, false
	}
	for _, f := range p.Findings {
		if f.Sort != record.FaultFound || f.Verdict != record.Present {
			continue
		}
		for _, text := range f.Affects {
			// What cannot be read was written by another version: it affects nothing here.
			if a, err := parseAffect(text); err == nil && a.matches(strategy, v, w) {
				return f, true
			}
		}
	}
	return record.Finding{}, false
}

// faultSkip says that a case is not measured because this kernel does it wrong.
func faultSkip(c Case, f record.Finding) record.Skip {
	reason := fmt.Sprintf("this kernel has the fault %s", f.Name)
	if f.Source != "" {
		reason += " (" + f.Source + ")"
	}
	if f.Evidence != "" {
		reason += ": " + f.Evidence
	}
	// By its id: at other points, say over another transport, it may be right.
	return record.Skip{Case: c.ID, Reason: reason, Remedy: "run another kernel; `zcbench probe` tells which faults it has"}
}

// CheckAffects reports the first of a fault's affected cases that cannot be read,
// or that name a strategy there is none of.
func CheckAffects(texts []string, reg Registry) error {
	for _, text := range texts {
		a, err := parseAffect(text)
		if err != nil {
			return err
		}
		if _, ok := reg.Find(a.strategy); !ok {
			return fmt.Errorf("affected cases %q: no strategy %s", text, a.strategy)
		}
	}
	return nil
}
