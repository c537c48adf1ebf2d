package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// The blocks beyond a plan are those it would have had with more of them.
func TestFurtherBlocksAreThoseOfALongerPlan(t *testing.T) {
	short := planned(t, scenarioText, PlanOptions{Seed: 7})
	long := planned(t, scenarioText, PlanOptions{Seed: 7, Blocks: 9})
	var got []record.Trial
	for b := short.Blocks(); b < 9; b++ {
		got = append(got, short.Block(b, len(short.Trials)+len(got))...)
	}
	if want := long.Trials[len(short.Trials):]; short.Blocks() != 6 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d blocks, and beyond them\n%v\nwant\n%v", short.Blocks(), ids(got), ids(want))
	}
}

// lasting is a session that goes on for so many ticks, of which a trial takes two.
func lasting(t *testing.T, ticks int) *session {
	s := newSession(smallPlan(t))
	s.For = time.Duration(ticks)
	return s
}

func TestFurtherBlocks(t *testing.T) {
	whole := newSession(smallPlan(t))
	whole.run(t, context.Background())
	own := len(whole.Plan.Trials)
	for ticks, blocks := range map[int]int{0: 0, 1: 0, 2 * own: 0, 2*own + 2: 1, 2*own + 20: 3} {
		s := lasting(t, ticks)
		var last Event
		s.Progress = func(e Event) { last = e }
		sum := s.run(t, context.Background())
		each := 4 // three cases and the floor
		if sum.ExtraBlocks != blocks || sum.Trials != own+blocks*each || sum.Interrupted || last.Done != last.Planned || last.Planned != sum.Trials {
			t.Errorf("%d ticks: %+v, last event %d of %d; want %d blocks", ticks, sum, last.Done, last.Planned, blocks)
		}
		for i, l := range s.out.res.Trials {
			if l.Trial.Order != i {
				t.Errorf("%d ticks: line %d has order %d", ticks, i, l.Trial.Order)
			}
		}
	}
}

// Where nothing can be run there is no end to wait for.
func TestFurtherBlocksOfNothing(t *testing.T) {
	s := lasting(t, 1<<40)
	s.exec.change = func(tr record.Trial, x *Execution) {
		if tr.Purpose == record.Verify {
			*x = failed(tr, errors.New("wrong bytes"))
		}
	}
	s.Plan.Scenario.Kind = KindConnect // of which no floor is measured
	if sum := s.run(t, context.Background()); sum.ExtraBlocks != 1 || sum.NotRun == 0 {
		t.Errorf("%+v", sum)
	}
}

// A run that goes on for a time and is killed or interrupted in a further block
// brings that block to its end when it is resumed.
func TestFurtherBlocksResume(t *testing.T) {
	dir := t.TempDir()
	run := func(limit int, resume bool, lasts time.Duration) (Summary, *record.Result, error) {
		c, s := campaign(t, dir)
		c.For, c.Resume = lasts, resume
		c.Exec = &s.exec
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		change := s.exec.change
		s.exec.change = func(tr record.Trial, x *Execution) {
			time.Sleep(100 * time.Microsecond)
			if change(tr, x); tr.Block >= c.Plan.Blocks()+2 && limit > 0 {
				cancel()
				*x = failed(tr, context.Canceled)
			}
		}
		sum, path, err := c.Run(ctx)
		if err != nil {
			return sum, nil, err
		}
		res, err := record.Read(path)
		return sum, res, err
	}
	sum, part, err := run(1, false, time.Hour)
	if err != nil || !sum.Interrupted || part.Footer.ExtraBlocks != 3 || part.Header.ForNS != time.Hour.Nanoseconds() {
		t.Fatalf("%+v, %v, footer %+v", sum, err, part.Footer)
	}
	if _, _, err := run(0, true, time.Minute); err == nil || !strings.Contains(err.Error(), "--for 1h0m0s, not 1m0s") {
		t.Errorf("another time: %v", err)
	}
	if _, _, err := run(0, true, 0); err == nil {
		t.Error("it is resumed without --for")
	}
	// Its time is over as soon as it goes on: the block that was begun is ended.
	text := filepath.Join(dir, record.FileName)
	shorten(t, text, fmt.Sprintf(`"for_ns":%d`, time.Hour.Nanoseconds()), `"for_ns":1`)
	sum, res, err := run(0, true, 1)
	if err != nil || sum.Interrupted || res.Footer.Status != "failed" {
		t.Fatalf("resumed: %+v, %v", sum, err)
	}
	seen, ids := map[int]int{}, map[string]bool{}
	for _, l := range res.Trials {
		if !ids[l.Trial.ID] { // no rerun
			ids[l.Trial.ID] = true
			seen[l.Trial.Block]++
		}
	}
	for b, n := range seen {
		if b >= 0 && n != seen[0] {
			t.Errorf("block %d has %d trials, block 0 %d", b, n, seen[0])
		}
	}
	if !slices.IsSortedFunc(res.Trials, func(a, b record.TrialLine) int { return a.Trial.Order - b.Trial.Order }) {
		t.Error("the lines are not in order")
	}
}

// shorten replaces a text in a file.
func shorten(t *testing.T, path, old, new string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), old) != 1 {
		t.Fatalf("%q is not once in %s", old, path)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
