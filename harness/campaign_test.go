package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// campaign is a run of the eventful plan into dir, by a fake executor.
func campaign(t *testing.T, dir string) (*Campaign, *session) {
	s := eventful(t)
	return &Campaign{
		Plan: s.Plan, Registry: s.Registry, Exec: &s.exec, Seed: 1, Dir: dir, Probe: s.Probe,
		Tool: record.Tool{Version: "1.0", Commit: "abc", Go: "go1.26"},
		Machine: Machine{
			Environment: record.Environment{{Key: "arch", Value: "amd64", Compare: record.Exact}, {Key: "kernel", Value: "6.18", Compare: record.Sampled}, {Key: "load", Value: "1"}},
			Clock:       record.Clock{Source: "monotonic", TicksHz: 1e9}, ClockCostNS: 20, Warnings: []string{"a virtual machine"},
		},
	}, s
}

// measured runs a campaign and reads its result.
func measured(t *testing.T, c *Campaign, ctx context.Context) (Summary, *record.Result) {
	t.Helper()
	sum, path, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	res, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return sum, res
}

// comparable is a result without times and places.
func comparable(res *record.Result) *record.Result {
	out := timeless(*res)
	out.Path, out.End = "", 0
	out.Header.Started = time.Time{}
	if out.Footer != nil {
		f := *out.Footer
		f.Ended = time.Time{}
		out.Footer = &f
	}
	return &out
}

func TestCampaignWritesTheResult(t *testing.T) {
	c, _ := campaign(t, filepath.Join(t.TempDir(), "deep", "er"))
	sum, res := measured(t, c, context.Background())
	h := res.Header
	if h.Schema != record.Schema || h.Seed != 1 || h.Planned != len(c.Plan.Trials) || h.Tool != c.Tool || h.ClockCostNS != 20 || time.Since(h.Started) > time.Hour {
		t.Errorf("header %+v", h)
	}
	sc := h.Scenario
	if sc.Text != c.Plan.Scenario.Text || sc.Digest != c.Plan.Scenario.Digest || sc.Blocks != 6 || sc.Baseline != "beta" || sc.File != "t.yaml" || sc.Alpha != .05 {
		t.Errorf("scenario %+v", sc)
	}
	if sc.Headline.A != "alpha{chunk=4KiB}" || sc.Headline.B != "beta" || len(sc.Claims) != 1 || sc.Claims[0].A != "alpha{chunk=1KiB}" || sc.Claims[0].By != .1 {
		t.Errorf("headline %+v, claims %+v", sc.Headline, sc.Claims)
	}
	if len(sc.Cases) != len(c.Plan.Cases) || !reflect.DeepEqual(sc.Cases[0], c.Plan.Cases[0].CaseInfo) || len(sc.Points) != 1 {
		t.Errorf("cases %+v", sc.Cases)
	}
	if v, ok := h.Environment.Get("placement"); !ok || v != "not pinned" {
		t.Errorf("placement %q", v)
	}
	if !reflect.DeepEqual(h.Metrics, Metrics(record.KindReceive)) {
		t.Error("the header lacks descriptors of metrics")
	}
	want := record.Footer{Ended: res.Footer.Ended, Status: "failed", Trials: sum.Trials, Failed: 2, Invalid: 5}
	if *res.Footer != want || len(res.Trials) != sum.Trials {
		t.Errorf("footer %+v, want %+v; %d lines", *res.Footer, want, len(res.Trials))
	}
	if len(res.Warnings) != 2 || res.Warnings[0] != "a virtual machine" || len(res.Skips) != 1 {
		t.Errorf("warnings %q, skips %+v", res.Warnings, res.Skips)
	}
	if _, _, err := c.Run(context.Background()); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second run into the directory: error %v", err)
	}
}

// An interrupted run, finished later, ends in what an uninterrupted one would
// have written.
func TestCampaignResume(t *testing.T) {
	c, _ := campaign(t, t.TempDir())
	wholeSum, whole := measured(t, c, context.Background())
	for _, stop := range []int{0, 1, 5, 7, 20, len(whole.Trials) - 1} {
		dir := t.TempDir()
		first, s := campaign(t, dir)
		ctx, cancel := context.WithCancel(context.Background())
		change := s.exec.change
		s.exec.change = func(tr record.Trial, x *Execution) {
			if change(tr, x); len(s.exec.ran) == stop+1 {
				cancel()
				*x = failed(tr, errors.New("killed"))
			}
		}
		sum, part := measured(t, first, ctx)
		if !sum.Interrupted || part.Footer.Status != "interrupted" || len(part.Trials) >= len(whole.Trials) {
			t.Fatalf("stop at %d: %+v, footer %+v", stop, sum, part.Footer)
		}
		second, _ := campaign(t, dir)
		second.Resume = true
		sum, res := measured(t, second, context.Background())
		if !reflect.DeepEqual(comparable(res), comparable(whole)) {
			t.Errorf("stop at %d: the resumed result differs", stop)
		}
		if !reflect.DeepEqual(sum, wholeSum) {
			t.Errorf("stop at %d: summary %+v, want %+v", stop, sum, wholeSum)
		}
		var last int64
		for _, l := range res.Trials {
			if l.StartedNS < last {
				t.Errorf("stop at %d: %s started at %d, before %d", stop, l.Trial.ID, l.StartedNS, last)
			}
			last = l.EndedNS
		}
		// Once more there is nothing left to do.
		third, s3 := campaign(t, dir)
		third.Resume = true
		if _, again := measured(t, third, context.Background()); len(s3.exec.ran) != 0 || !reflect.DeepEqual(comparable(again), comparable(whole)) {
			t.Errorf("stop at %d: resuming a whole run ran %d trials", stop, len(s3.exec.ran))
		}
	}
}

// A run that was killed leaves no footer, and perhaps half a line.
func TestCampaignResumesAKilledRun(t *testing.T) {
	c, _ := campaign(t, t.TempDir())
	_, whole := measured(t, c, context.Background())
	text, err := os.ReadFile(filepath.Join(c.Dir, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for keep := 1; keep < len(lines); keep++ {
		for _, torn := range []int{0, keep % 50, len(lines[keep]) - 1} {
			if torn >= len(lines[keep]) || torn < 0 || torn > 0 && keep%3 > 0 {
				continue
			}
			dir := t.TempDir()
			left := strings.Join(lines[:keep], "") + lines[keep][:torn]
			if err := os.WriteFile(filepath.Join(dir, record.FileName), []byte(left), 0o644); err != nil {
				t.Fatal(err)
			}
			next, _ := campaign(t, dir)
			next.Resume = true
			_, res := measured(t, next, context.Background())
			if keep == 1 {
				res.Warnings = append(c.Machine.Warnings, res.Warnings...) // they come with the header or not at all
			}
			if !reflect.DeepEqual(comparable(res), comparable(whole)) {
				t.Fatalf("killed after %d lines and %d bytes: the resumed result differs", keep, torn)
			}
		}
	}
}

func TestCampaignResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	c, _ := campaign(t, dir)
	measured(t, c, context.Background())
	path := filepath.Join(dir, record.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]struct {
		do   func(t *testing.T, c *Campaign)
		says string
	}{
		"scenario": {func(t *testing.T, c *Campaign) { c.Plan.Scenario.Digest += "0" }, "the scenario has changed"},
		"smoke":    {func(t *testing.T, c *Campaign) { c.Plan.Scenario.IsSmoke = true }, "the scenario has changed"},
		"seed":     {func(t *testing.T, c *Campaign) { c.Seed = 2 }, "seed"},
		"blocks":   {func(t *testing.T, c *Campaign) { c.Plan.Trials = c.Plan.Trials[:20] }, "20"},
		"cases":    {func(t *testing.T, c *Campaign) { c.Plan.Cases[0].ID += "x" }, "same flags"},
		"kernel":   {func(t *testing.T, c *Campaign) { c.Machine.Environment[1].Value = "6.12" }, "the machine has changed (kernel)"},
		"arch":     {func(t *testing.T, c *Campaign) { c.Machine.Environment[0].Value = "arm64" }, "the machine has changed (arch)"},
		"pinning":  {func(t *testing.T, c *Campaign) { c.Plan.Trials[0].CPU = 1 }, "the machine has changed (placement)"},
		"tool":     {func(t *testing.T, c *Campaign) { c.Tool.Commit = "def" }, "begun by zcbench 1.0 abc go1.26, this is 1.0 def"},
	} {
		next, s := campaign(t, dir)
		next.Resume = true
		change.do(t, next)
		_, _, err := next.Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), change.says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want %q", name, err, change.says)
		}
		if len(s.exec.ran) != 0 {
			t.Errorf("%s: %d trials ran", name, len(s.exec.ran))
		}
	}
	load, _ := campaign(t, dir)
	load.Resume = true
	load.Machine.Environment[2].Value = "9" // told, not compared
	measured(t, load, context.Background())
	for name, text := range map[string]string{"torn header": string(before[:50]), "empty": "", "garbage inside": string(before) + "x\n"} {
		bad := t.TempDir()
		if err := os.WriteFile(filepath.Join(bad, record.FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		next, _ := campaign(t, bad)
		next.Resume = true
		var syntax *record.SyntaxError
		if _, _, err := next.Run(context.Background()); !errors.As(err, &syntax) {
			t.Errorf("%s: error %v", name, err)
		}
		if after, err := os.ReadFile(filepath.Join(bad, record.FileName)); err != nil || string(after) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// When the result cannot be written the run ends, and what is there stays.
func TestCampaignWriteFailure(t *testing.T) {
	c, s := campaign(t, t.TempDir())
	change := s.exec.change
	s.exec.change = func(tr record.Trial, x *Execution) {
		if change(tr, x); tr.Order == 4 {
			x.Stderr = strings.Repeat("x", record.MaxLineBytes)
		}
	}
	_, path, err := c.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("error %v", err)
	}
	res, err := record.Read(path)
	if err != nil || len(res.Trials) != 4 || res.Footer != nil {
		t.Errorf("%d lines, footer %v, %v", len(res.Trials), res.Footer, err)
	}
}
