package probes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// On real verbs over soft-RoCE each way of handing over a payload is read where the
// manual pages say, with counts.
func TestCopyPointsInGuest(t *testing.T) {
	want := map[string]record.FindingVerdict{
		"copy-post-send-inline":      record.ReadAtPost,
		"copy-post-send-inline-list": record.ReadAtPost,
		"copy-set-inline-data":       record.ReadAtBuild,
		"copy-set-inline-data-list":  record.ReadAtBuild,
		"copy-post-send-sge":         record.ReadLater,
		"copy-set-sge":               record.ReadLater,
		"copy-connect-private-data":  record.ReadAtCall,
		"copy-accept-private-data":   record.ReadAtCall,
	}
	for _, f := range inGuest(t, copyPoints()) {
		if f.Verdict == record.Inconclusive && f.Name == "copy-set-inline-data-list" {
			if !strings.Contains(f.Evidence, "rdma-core before 64") || len(f.Steps) > 0 {
				t.Errorf("%s is inconclusive for another reason than the library's fault: %+v", f.Name, f)
			}
			delete(want, f.Name)
			continue
		}
		if f.Verdict != want[f.Name] {
			t.Errorf("%s: %s (%s), want %s", f.Name, f.Verdict, f.Reason, want[f.Name])
		}
		delete(want, f.Name)
		for _, s := range f.Steps {
			if s.Changed != probe.Changes {
				t.Errorf("%s: %s was changed %d times, want %d", f.Name, s.Name, s.Changed, probe.Changes)
			}
		}
		if len(f.Steps) < 3 {
			t.Errorf("%s: steps %v", f.Name, f.Steps)
		}
	}
	for name := range want {
		t.Errorf("no finding %s", name)
	}
}

// What ended a probe before its counts were whole decides its verdict, and the
// counts so far are kept.
func TestCopyFindingOfAnError(t *testing.T) {
	var times verbs.Times
	times[verbs.BeforeBuild] = verbs.Arrivals{Changed: 7, Arrived: 7}
	for name, c := range map[string]struct {
		err  error
		want record.FindingVerdict
	}{
		"no ibv_wr_*":   {&verbs.Unsupported{What: "ibv_wr_* posting", Limit: -1}, record.Unsupported},
		"no verbs":      {fmt.Errorf("open: %w", verbs.ErrUnavailable), record.Unsupported},
		"no completion": {verbs.ErrDeadline, record.Inconclusive},
		"other bytes":   {errors.New("byte 3 arrived as 0x07"), record.Inconclusive},
	} {
		f := copyFinding(times, sendTimes, "how", c.err)
		if f.Verdict != c.want || f.Reason != c.err.Error() || len(f.Steps) != 4 || f.Steps[0].Changed != 7 {
			t.Errorf("%s: %+v, want %s", name, f, c.want)
		}
	}
}

func TestCopyFindingTellsOfParts(t *testing.T) {
	const n = probe.Changes
	times := verbs.Times{
		verbs.BeforeBuild: {Changed: n, Arrived: n}, verbs.AfterBuild: {Changed: n, Arrived: n},
		verbs.AfterPost: {Changed: n, Arrived: 5, Partly: 2}, verbs.AfterCompletion: {Changed: n},
	}
	f := copyFinding(times, sendTimes, "how", nil)
	if f.Verdict != record.ReadLater || !strings.Contains(f.Evidence, "how; 2 arrived in part") {
		t.Errorf("%+v", f)
	}
}
