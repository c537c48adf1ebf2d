package probes

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
)

var recordTo = flag.String("record", "", "write the traces of this kernel's faults to this folder, to be checked and kept in testdata")

// recorded is a trace kept in testdata, by hand or from a kernel.
type recorded struct {
	Origin  string                `json:"origin"` // the kernel, or what it was made up from
	Verdict record.FindingVerdict `json:"verdict"`
	Says    []string              `json:"says,omitempty"` // parts of its evidence or reason
	Trace   trace                 `json:"trace"`
}

// TestJudgesOnTraces judges kept traces, named FAULT_ORIGIN.json. Of each fault there is
// at least one of a kernel that has it, and one of a kernel that has not.
func TestJudgesOnTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	seen := map[string][]record.FindingVerdict{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "_")
		i := slices.IndexFunc(knownFaults(), func(f fault) bool { return f.name == name })
		if i < 0 {
			t.Errorf("%s: no fault %s", file, name)
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			r := readTrace(t, file)
			j := decide(r.Trace, knownFaults()[i].judge)
			if j.Verdict != r.Verdict || (j.Evidence == "") == (j.Reason == "") {
				t.Errorf("judged %s (evidence %q, reason %q), want %s", j.Verdict, j.Evidence, j.Reason, r.Verdict)
			}
			for _, part := range r.Says {
				if !strings.Contains(j.Evidence+j.Reason, part) {
					t.Errorf("says %q, without %q", j.Evidence+j.Reason, part)
				}
			}
			seen[name] = append(seen[name], j.Verdict)
		})
	}
	for _, f := range knownFaults() {
		for _, v := range []record.FindingVerdict{record.Present, record.Absent} {
			if !slices.Contains(seen[f.name], v) {
				t.Errorf("%s: no trace is judged %s", f.name, v)
			}
		}
	}
}

func readTrace(t *testing.T, file string) recorded {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	var r recorded
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if r.Origin == "" {
		t.Error("where it comes from is not told")
	}
	return r
}

// TestJudgesWithoutEvidence: a trace that shows nothing decides nothing, and what
// the kernel lacks cannot be tested.
func TestJudgesWithoutEvidence(t *testing.T) {
	for _, f := range knownFaults() {
		for _, c := range []struct {
			name string
			t    trace
			want record.FindingVerdict
		}{
			{"nothing", trace{CPUs: 2}, record.Inconclusive},
			{"an empty round", trace{CPUs: 2, Rounds: []round{{Name: "empty", Times: 1}}}, record.Inconclusive},
			{"empty rounds", trace{CPUs: 2, Rounds: []round{{Name: "empty", Times: 1}, {Name: "empty", Times: 1}}}, record.Inconclusive},
			{"refused", trace{Refused: "receive bundles: invalid argument"}, record.Untestable},
			{"broken", trace{Failed: "socketpair: too many open files"}, record.Inconclusive},
		} {
			if j := decide(c.t, f.judge); j.Verdict != c.want || j.Reason == "" {
				t.Errorf("%s, %s: %+v, want %s with a reason", f.name, c.name, j, c.want)
			}
		}
	}
}

// TestFaultsHere reproduces every fault on the running kernel. What it has is not
// ours to choose, but must be decided; where testdata tells what this very kernel
// has it must agree.
func TestFaultsHere(t *testing.T) {
	want := expectedHere(t)
	for _, f := range knownFaults() {
		t.Run(f.name, func(t *testing.T) {
			tr, j := f.run()
			t.Logf("%s: %s%s", j.Verdict, j.Evidence, j.Reason)
			if *recordTo != "" {
				writeTrace(t, f.name, recorded{"Linux " + tr.Kernel, j.Verdict, nil, tr})
			}
			switch {
			case want != nil && j.Verdict != want[f.name]:
				t.Errorf("%s on %s, want %s: %s%s", j.Verdict, tr.Kernel, want[f.name], j.Evidence, j.Reason)
			case !slices.Contains([]record.FindingVerdict{record.Present, record.Absent, record.Untestable}, j.Verdict):
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}

func writeTrace(t *testing.T, name string, r recorded) {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*recordTo, name+"_"+r.Trace.Kernel+".json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// expectedHere reads what the running kernel is known to have, from a file named by
// its version, or returns nil where there is none: later ones of the same series
// are repaired.
func expectedHere(t *testing.T) map[string]record.FindingVerdict {
	t.Helper()
	version, _, _ := strings.Cut(kernelRelease(), "-")
	f, err := os.Open(filepath.Join("testdata", "faults", version+".txt"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]record.FindingVerdict{}
	for s := bufio.NewScanner(f); s.Scan(); {
		name, verdict, ok := strings.Cut(s.Text(), " ")
		if name == "#" || !ok {
			continue
		}
		out[name] = record.FindingVerdict(verdict)
	}
	for _, k := range knownFaults() {
		if out[k.name] == "" {
			t.Errorf("%s does not tell of %s", f.Name(), k.name)
		}
	}
	return out
}

// TestFaultsAsChecks: in processes of their own, as a user has them, faults come to
// the same verdicts, and copy points to any.
func TestFaultsAsChecks(t *testing.T) {
	p := onThisMachine(t, func(c probe.Check) bool {
		return c.Sort == record.FaultFound || c.Name == "copy-send-tcp" || c.Name == "copy-uring-send-zc-tcp"
	})
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	want := expectedHere(t)
	for _, f := range p.Findings {
		if f.Verdict == record.Inconclusive {
			t.Errorf("%s: %s", f.Name, f.Reason)
		}
		if f.Sort != record.FaultFound {
			continue
		}
		if want != nil && f.Verdict != want[f.Name] {
			t.Errorf("%s is %s, want %s: %s", f.Name, f.Verdict, want[f.Name], f.Evidence)
		}
		if f.Source == "" || f.Help == "" {
			t.Errorf("%s: source %q, help %q", f.Name, f.Source, f.Help)
		}
	}
}
