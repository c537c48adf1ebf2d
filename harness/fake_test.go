package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// fakeExecutor answers trials without processes or clocks: as a good strategy
// would, unless change says otherwise.
type fakeExecutor struct {
	log    *[]string
	ran    []record.Trial
	change func(t record.Trial, x *Execution)
}

// fakeRate is the capacity the fake measures, in messages per second.
const fakeRate = 10_000

func (f *fakeExecutor) Run(ctx context.Context, t record.Trial) Execution {
	f.ran = append(f.ran, t)
	f.note("run " + name(t))
	if err := ctx.Err(); err != nil {
		return failed(t, err)
	}
	x := Execution{
		Record: record.Record{
			Schema: record.Schema, Trial: t.ID, Status: record.OK, Fingerprint: load.NewSchedule(t).Fingerprint(t.Seed),
			Metrics: map[string]record.Value{"messages_per_s": record.Level(fakeRate), "go_allocs": record.Count(int64(t.Block)+1, int64(t.Messages))},
			Window:  record.Window{NS: 1e6},
		},
		Generator: &record.Generator{Messages: int64(t.Messages), Limited: load.LimitedNone, OfferedHz: 100, AchievedHz: 100},
	}
	if f.change != nil {
		f.change(t, &x)
	}
	return x
}

func (f *fakeExecutor) note(text string) {
	if f.log != nil {
		*f.log = append(*f.log, text)
	}
}

// name is a trial's id, with the attempt where it is not the first.
func name(t record.Trial) string {
	if t.Attempt > 0 {
		return fmt.Sprintf("%s#%d", t.ID, t.Attempt)
	}
	return t.ID
}

// memory is an Out that keeps what is written; broken fails from its n-th line on.
type memory struct {
	log      *[]string
	res      record.Result
	failFrom int
	written  int
}

var errDiskFull = errors.New("disk full")

func (m *memory) line(text string) error {
	m.written++
	if m.failFrom > 0 && m.written >= m.failFrom {
		return errDiskFull
	}
	if m.log != nil {
		*m.log = append(*m.log, "write "+text)
	}
	return nil
}

func (m *memory) Trial(l record.TrialLine) error {
	err := m.line(name(l.Trial))
	if err == nil {
		m.res.Trials = append(m.res.Trials, l)
	}
	return err
}

func (m *memory) Skip(k record.Skip) error {
	err := m.line("skip " + k.Case)
	if err == nil {
		m.res.Skips = append(m.res.Skips, k)
	}
	return err
}

func (m *memory) Warning(text string) error {
	err := m.line("warning")
	if err == nil {
		m.res.Warnings = append(m.res.Warnings, text)
	}
	return err
}

// session is a run of a plan with a fake executor and an Out in memory.
type session struct {
	Runner
	exec fakeExecutor
	out  memory
	log  []string
}

func newSession(p *Plan) *session {
	s := &session{}
	s.exec.log, s.out.log = &s.log, &s.log
	tick := time.Duration(0)
	s.Runner = Runner{
		Plan: p, Registry: testRegistry(), Exec: &s.exec, Out: &s.out,
		Probe: func(string) (string, string) { return "", "" },
		Since: func() time.Duration { tick++; return tick },
	}
	return s
}

func (s *session) run(t *testing.T, ctx context.Context) Summary {
	t.Helper()
	sum, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// lines finds the lines written of the trials whose id begins so.
func (s *session) lines(prefix string) []record.TrialLine {
	var out []record.TrialLine
	for _, l := range s.out.res.Trials {
		if strings.HasPrefix(l.Trial.ID, prefix) {
			out = append(out, l)
		}
	}
	return out
}

// smallPlan is a plan of one point and three cases.
func smallPlan(t testing.TB, oldNew ...string) *Plan {
	t.Helper()
	one := []string{"[1, 4]", "2", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}"}
	return planned(t, edited(t, append(one, oldNew...)...), PlanOptions{Seed: 1})
}

func within(list []string, of string) int { return slices.Index(list, of) }
