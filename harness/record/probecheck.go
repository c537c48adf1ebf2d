package record

import (
	"fmt"
	"slices"
)

// Bounds of a probe read from a file or a process.
const (
	maxFindings    = 1024
	maxFindingText = 8 << 10
	maxSteps       = 64
)

// verdicts lists what findings of a sort may come to.
var verdicts = map[Sort][]FindingVerdict{
	FeatureFound:   {Supported, Unsupported, Inconclusive, Untestable},
	LimitFound:     {LimitIs, Unsupported, Inconclusive, Untestable},
	FaultFound:     {Present, Absent, Inconclusive, Untestable},
	CopyPointFound: {ReadAtCall, ReadAtPost, ReadAtBuild, ReadLater, Unsupported, Inconclusive, Untestable},
}

// Verdicts lists what findings of a sort may come to.
func (s Sort) Verdicts() []FindingVerdict { return slices.Clone(verdicts[s]) }

// Decided reports whether a verdict says something about the machine.
func (v FindingVerdict) Decided() bool { return v != Inconclusive && v != Untestable }

// Check validates a finding, which comes from a process that may have crashed or
// from a file: untrusted input.
func (f Finding) Check() error {
	known, ok := verdicts[f.Sort]
	switch {
	case f.Name == "":
		return fmt.Errorf("a finding without a name")
	case !ok:
		return fmt.Errorf("finding %s: unknown sort %q", f.Name, f.Sort)
	case !slices.Contains(known, f.Verdict):
		return fmt.Errorf("finding %s: a %s has no verdict %q", f.Name, f.Sort, f.Verdict)
	case len(f.Steps) > maxSteps:
		return fmt.Errorf("finding %s: %d steps, the limit is %d", f.Name, len(f.Steps), maxSteps)
	}
	for _, text := range []string{f.Family, f.Name, f.Unit, f.Reason, f.Evidence, f.Source, f.Class, f.Help} {
		if len(text) > maxFindingText {
			return fmt.Errorf("finding %s: a text of %d bytes, the limit is %d", f.Name, len(text), maxFindingText)
		}
	}
	for _, s := range f.Steps {
		if s.Changed < 0 || s.Arrived < 0 || s.Arrived > s.Changed {
			return fmt.Errorf("finding %s: step %q: %d of %d arrived", f.Name, s.Name, s.Arrived, s.Changed)
		}
	}
	return nil
}

// Check validates a probe.
func (p Probe) Check() error {
	if p.Schema != ProbeSchema {
		return fmt.Errorf("probe schema %d: this build reads schema %d", p.Schema, ProbeSchema)
	}
	if len(p.Findings) > maxFindings {
		return fmt.Errorf("a probe of %d findings, the limit is %d", len(p.Findings), maxFindings)
	}
	seen := map[string]bool{}
	for _, f := range p.Findings {
		if err := f.Check(); err != nil {
			return err
		}
		if seen[f.Name] {
			return fmt.Errorf("finding %s is there twice", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// Find returns the finding of a name. A nil probe has none.
func (p *Probe) Find(name string) (Finding, bool) {
	if p == nil {
		return Finding{}, false
	}
	i := slices.IndexFunc(p.Findings, func(f Finding) bool { return f.Name == name })
	if i < 0 {
		return Finding{}, false
	}
	return p.Findings[i], true
}
