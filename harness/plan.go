package harness

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// Case is one strategy with its params at one point, and what to call it.
type Case struct {
	record.CaseInfo
	Values  Values   // complete
	Command []string // of strategy exec
	// Missing is set where the program of an optional case is not there.
	Missing *Skip
	point   int
}

// Plan is everything a run will do, in order. It depends on the scenario, the
// seed and the options alone.
type Plan struct {
	Scenario *scenarios.Scenario
	Points   []record.PointInfo
	Cases    []Case
	// Trials in order. Loads that are a fraction of the capacity have no rate
	// yet, and peers and clocks are filled in when a trial starts.
	Trials []record.Trial
	// Baseline is the label of the case effects are counted against.
	Baseline string
	// Notes are what the plan does otherwise than the scenario says.
	Notes []string
	// options are those it was made with, for the blocks beyond it.
	options PlanOptions
	// resolved holds the label of the case that each reference of the scenario
	// means, by how the reference is written.
	resolved map[string]string
}

// PlanOptions change how much of a scenario is planned, never what a trial does.
type PlanOptions struct {
	Seed       uint64
	Blocks     int      // 0: as the scenario says
	Filter     string   // a glob over case ids; empty: all
	OnlyCounts bool     // counting trials only
	PlantNS    int64    // burnt for each message of timing trials, see record.Trial
	Builds     []string // labels of the binaries under --ab; empty: this one
	CPU        int      // of the measured thread; -1: not pinned
	OtherCPU   int
	MaxClients int // that the machine allows; 0: any number
	// Findings are what a probe can find, by name and sort, for claims to name; nil:
	// claims are not checked against them.
	Findings []record.Finding
	// FindProgram finds the program a command names; nil: FindProgram.
	FindProgram func(sc *scenarios.Scenario, name string) (string, error)
}

// NewPlan checks a scenario against the strategies and metrics there are and
// lays its trials out. Errors are *scenarios.Error where the file is at fault.
func NewPlan(sc *scenarios.Scenario, reg Registry, o PlanOptions) (*Plan, error) {
	p := &Plan{Scenario: sc, Points: points(sc, o.MaxClients), options: o, resolved: map[string]string{}}
	if err := p.limitClients(o.MaxClients); err != nil {
		return nil, err
	}
	if err := p.addCases(reg, o); err != nil {
		return nil, err
	}
	if err := check(p, reg, o); err != nil {
		return nil, err
	}
	if err := p.filter(o.Filter); err != nil {
		return nil, err
	}
	p.layOut(o)
	return p, nil
}

func (p *Plan) addCases(reg Registry, o PlanOptions) error {
	seen := map[string]string{}
	for i, use := range p.Scenario.Strategies {
		s, ok := reg.Find(use.Name)
		if !ok {
			return unknown(p.Scenario, fmt.Sprintf("strategies[%d].name", i), "strategy", use.Name, reg.Names(p.Scenario.Kind))
		}
		if !s.Does(p.Scenario.Kind) {
			return p.Scenario.Errorf(fmt.Sprintf("strategies[%d].name", i), "strategy %s is not for kind %s; for it are %s",
				s.Name, p.Scenario.Kind, strings.Join(reg.Names(p.Scenario.Kind), ", "))
		}
		if err := checkParams(p.Scenario, fmt.Sprintf("strategies[%d].params", i), s, use.Params); err != nil {
			return err
		}
		prog, err := p.program(i, o)
		if err != nil {
			return err
		}
		for _, ref := range use.Cases() {
			ref = prog.named(ref)
			label, values, err := canonical(s, ref.Params)
			if err != nil {
				return p.Scenario.Errorf(fmt.Sprintf("strategies[%d]", i), "%v", err)
			}
			full := s.Name + "{" + pairs(values) + "}"
			if first, dup := seen[full]; dup {
				return p.Scenario.Errorf(fmt.Sprintf("strategies[%d]", i), "case %s is the same as %s above%s", label, first, prog.apart())
			}
			seen[full] = label
			p.addCase(s, label, values, ref, prog, o)
		}
	}
	return nil
}

// canonical returns the label of a case, with the params as given but spelled
// canonically, and its complete values.
func canonical(s Strategy, given map[string]string) (string, Values, error) {
	values, err := s.Complete(given)
	if err != nil {
		return "", nil, err
	}
	spelled := map[string]string{}
	for k := range given {
		spelled[k] = values[k]
	}
	return scenarios.CaseRef{Strategy: s.Name, Params: spelled}.Label(), values, nil
}

func (p *Plan) addCase(s Strategy, label string, values Values, ref scenarios.CaseRef, prog program, o PlanOptions) {
	builds := o.Builds
	if len(builds) == 0 {
		builds = []string{""}
	}
	for i, pt := range p.Points {
		for _, b := range builds {
			c := Case{CaseInfo: record.CaseInfo{
				ID: caseID(label, b, pt.ID), Label: label, Strategy: s.Name, Params: map[string]string{}, Point: pt.ID, Build: b,
			}, Values: values, Command: prog.command, Missing: prog.missing, point: i}
			for k := range ref.Params {
				c.Params[k] = values[k]
			}
			p.Cases = append(p.Cases, c)
		}
	}
}

// caseID is strategy{k=v,..}[build]@k=v,.. with the parts there are.
func caseID(label, build, point string) string {
	if build != "" {
		label += "[" + build + "]"
	}
	if point != "" {
		label += "@" + point
	}
	return label
}

// filter keeps the cases whose id matches a glob, and the baseline.
func (p *Plan) filter(glob string) error {
	if glob == "" {
		return nil
	}
	match := globRule(glob)
	matched := false
	p.Cases = slices.DeleteFunc(p.Cases, func(c Case) bool {
		hit := match.MatchString(c.ID) || match.MatchString(c.Label)
		matched = matched || hit
		return !hit && !c.Baseline
	})
	if !matched {
		return fmt.Errorf("filter %q matches no case; `zcbench run --dry-run` lists them", glob)
	}
	return nil
}

// globRule reads a glob in which * stands for any text, ? for any character, and
// all else for itself: ids are full of brackets and slashes.
func globRule(glob string) *regexp.Regexp {
	rule := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(glob))
	return regexp.MustCompile("^(?s:" + rule + ")$")
}

// layOut writes the trials down: capacity, then verification, so that a broken
// strategy is known before anything is timed, then counting, then the blocks.
func (p *Plan) layOut(o PlanOptions) {
	m := p.Scenario.Measure
	for i, pt := range p.Points {
		if needsCapacity(pt.Workload, o.OnlyCounts) {
			p.addCapacity(i, o)
		}
	}
	if !o.OnlyCounts {
		p.addRound(o, record.Verify, -1, 0, m.VerifyMessages)
	}
	for r := range m.CountingTrials {
		p.addRound(o, record.Counting, -1, r, m.CountingMessages)
	}
	if o.OnlyCounts || p.Scenario.Kind == KindAging {
		return // aging is about what is held, not about time
	}
	blocks := m.Blocks
	if o.Blocks > 0 {
		blocks = o.Blocks
	}
	for b := range blocks {
		p.addRound(o, record.Timing, b, 0, m.Messages)
	}
}

func (p *Plan) addRound(o PlanOptions, purpose record.Purpose, block, repeat, messages int) {
	for _, t := range p.round(o, purpose, block, repeat, messages) {
		p.add(t)
	}
}

// Blocks is how many blocks of timing trials the plan has.
func (p *Plan) Blocks() int {
	n := 0
	for _, t := range p.Trials {
		n = max(n, t.Block+1)
	}
	return n
}

// Block lays out the block of a number beyond the plan's own, as the plan would
// have with more blocks; order is that of its first trial.
func (p *Plan) Block(number, order int) []record.Trial {
	out := p.round(p.options, record.Timing, number, 0, p.Scenario.Measure.Messages)
	for i := range out {
		out[i].Order = order + i
	}
	return out
}

// round is a trial of every case in seeded random order, and in a block the null
// strategy once a point.
func (p *Plan) round(o PlanOptions, purpose record.Purpose, block, repeat, messages int) []record.Trial {
	var round []record.Trial
	for _, c := range p.Cases {
		t := p.trial(c.CaseInfo, c.Values, c.point, o, purpose, block, repeat, messages)
		t.Command = c.Command
		round = append(round, t)
	}
	if purpose == record.Timing && p.receives() {
		for i, pt := range p.Points {
			null := record.CaseInfo{ID: caseID(Null.Name, "", pt.ID), Label: Null.Name, Strategy: Null.Name, Point: pt.ID}
			round = append(round, p.trial(null, nil, i, o, record.Floor, block, 0, messages))
		}
	}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(block+1)<<20|uint64(repeat)<<8|uint64(len(purpose))))
	rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round
}

func (p *Plan) add(t record.Trial) {
	t.Order = len(p.Trials)
	p.Trials = append(p.Trials, t)
}

// needsCapacity tells whether the rate of a point is to be measured: an open load
// may be a fraction of it, and a hold by time is counted in the messages that
// come meanwhile.
func needsCapacity(w record.Workload, onlyCounts bool) bool {
	if w.Load.RateHz > 0 {
		return false
	}
	return w.HoldNS > 0 || w.Load.Mode == "open" && !onlyCounts
}

// addCapacity adds the closed-loop trial of the baseline that tells the rate of a
// point.
func (p *Plan) addCapacity(i int, o PlanOptions) {
	for _, c := range p.Cases {
		if c.Baseline && c.point == i {
			t := p.trial(c.CaseInfo, c.Values, i, o, record.Capacity, -1, 0, p.Scenario.Measure.Messages)
			t.Command = c.Command
			if t.Workload.Load.Mode != "closed" {
				t.Workload.Load = record.Load{Mode: "closed", Depth: capacityDepth}
			}
			p.add(t)
			return
		}
	}
}

// capacityDepth is how many messages of each client are outstanding while the
// capacity is measured: enough that neither side waits for the other's turn.
const capacityDepth = 8

func (p *Plan) trial(c record.CaseInfo, v Values, point int, o PlanOptions, purpose record.Purpose, block, repeat, messages int) record.Trial {
	w := p.Points[point].Workload
	if purpose == record.Counting && p.receives() {
		w.Load = record.Load{Mode: load.Lockstep, Fraction: w.Load.Fraction, RateHz: w.Load.RateHz}
	}
	t := record.Trial{
		Schema: record.Schema, ID: trialID(c.ID, purpose, block, repeat), Scenario: p.Scenario.Name,
		Case: c.ID, Point: c.Point, Strategy: c.Strategy, Params: v, Workload: w, Purpose: purpose, Build: c.Build,
		Block: block, Repeat: repeat, Seed: seed(o.Seed, block, point), Messages: messages,
		Warmup: p.warmup(w, messages), CPU: o.CPU, OtherCPU: o.OtherCPU,
		DeadlineMS: p.Scenario.Measure.TimeoutNS / 1e6,
	}
	if purpose == record.Timing {
		t.PlantNS = o.PlantNS
	}
	return t
}

func (p *Plan) receives() bool { return p.Scenario.Kind == record.KindReceive }

// warmup is how many messages come before a window; of kinds that post, a tenth
// of the window's posts.
func (p *Plan) warmup(w record.Workload, messages int) int {
	if p.receives() {
		return load.WarmupMessages(w)
	}
	return max(1, messages/10)
}

func trialID(caseID string, purpose record.Purpose, block, repeat int) string {
	switch purpose {
	case record.Timing, record.Floor:
		return fmt.Sprintf("%s/%s/block%d", caseID, purpose, block+1)
	case record.Counting:
		return fmt.Sprintf("%s/%s/%d", caseID, purpose, repeat+1)
	}
	return fmt.Sprintf("%s/%s", caseID, purpose)
}

// seed differs by block and point and is the same for all cases. Trials outside
// the blocks share one, so that counts can be compared between repeats.
func seed(run uint64, block, point int) uint64 {
	return rand.New(rand.NewPCG(run, uint64(block+1)<<32|uint64(point))).Uint64()
}
