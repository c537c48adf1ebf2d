package render

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

// probeText is what bears on the figures of what the run found out about its
// machine: the faults it has, and its limits.
func probeText(s *analyze.Scenario, o Options) string {
	if s.Probe == nil {
		return ""
	}
	var faults, limits []string
	known := 0
	for _, f := range s.Probe.Findings {
		switch {
		case f.Sort == record.FaultFound:
			if known++; f.Verdict == record.Present {
				faults = append(faults, f.Name+sourceWords(f))
			}
		case f.Verdict == record.LimitIs:
			limits = append(limits, f.Name+" "+limitWords(f))
		}
	}
	if known == 0 && len(limits) == 0 {
		return ""
	}
	present := "none"
	if len(faults) > 0 {
		present = strings.Join(faults, "; ")
	}
	var b strings.Builder
	b.WriteString(o.paint(toneStrong, "Machine\n"))
	if known > 0 {
		b.WriteString(indented("  ", "    ", o.text(fmt.Sprintf("known faults present (%d tried): %s", known, present)), o.width()))
	}
	if len(limits) > 0 {
		b.WriteString(indented("  ", "    ", o.text("limits found: "+strings.Join(limits, "; ")), o.width()))
	}
	return b.String()
}

func sourceWords(f record.Finding) string {
	if f.Source == "" {
		return ""
	}
	return " (" + f.Source + ")"
}
