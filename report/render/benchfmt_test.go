package render

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// benchParsed is what a reader of the format makes of it.
type benchParsed struct {
	values map[string]map[string][]float64 // name -> unit -> values
	units  map[string]string
	lines  int
}

// parseBench follows the published format: Benchmark lines are a name, an
// iteration count and value-unit pairs; Unit lines are key=value facts.
func parseBench(t *testing.T, text string) benchParsed {
	t.Helper()
	out := benchParsed{map[string]map[string][]float64{}, map[string]string{}, 0}
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "Unit":
			if _, dup := out.units[f[1]]; dup {
				t.Errorf("unit %s twice", f[1])
			}
			out.units[f[1]] = strings.Join(f[2:], " ")
		case strings.HasPrefix(f[0], "Benchmark"):
			if len(f) < 4 || len(f)%2 != 0 {
				t.Fatalf("a line of %d words: %s", len(f), line)
			}
			if n, err := strconv.Atoi(f[1]); err != nil || n < 1 {
				t.Fatalf("iterations %q", f[1])
			}
			out.lines++
			for i := 2; i < len(f); i += 2 {
				v, err := strconv.ParseFloat(f[i], 64)
				if err != nil {
					t.Fatal(err)
				}
				if out.values[f[0]] == nil {
					out.values[f[0]] = map[string][]float64{}
				}
				out.values[f[0]][f[i+1]] = append(out.values[f[0]][f[i+1]], v)
			}
		case !regexp.MustCompile(`^[a-z][^\s:A-Z]*: `).MatchString(line):
			t.Errorf("neither a benchmark nor a key: %q", line)
		}
	}
	return out
}

func TestBenchfmtHasOneLinePerTrial(t *testing.T) {
	res := fixture.Result()
	got := parseBench(t, textOf(t, "benchfmt", reportOf(t, res), Options{}))
	if want := 6*10 + 6*6; got.lines != want {
		t.Errorf("%d lines, want %d", got.lines, want)
	}
	const slot = "BenchmarkUringFixedVsInc/case=slot/point=clients=16,load=open(50%)"
	var cpu []float64
	for b := range 10 {
		for _, tr := range res.Trials {
			if tr.Trial.Strategy == "slot" && tr.Trial.Purpose == record.Timing && tr.Trial.Block == b {
				cpu = append(cpu, tr.Record.Metrics["cpu_per_msg"].Float64())
			}
		}
	}
	v := got.values[slot]
	if len(v["cpu_per_msg-sec/msg"]) != 10 || v["cpu_per_msg-sec/msg"][3] != cpu[3] {
		t.Errorf("CPU samples %v, want %v", v["cpu_per_msg-sec/msg"], cpu)
	}
	if n := len(v["syscalls/msg"]); n != 6 || v["syscalls/msg"][0] != 2.004 {
		t.Errorf("system calls %v", v["syscalls/msg"])
	}
	for unit, want := range map[string]string{"syscalls/msg": "better=lower assume=exact", "latency_p50-sec": "better=lower",
		"messages_per_s/s": "better=higher", "buffer_pages_mean-page": "better=lower"} {
		if got.units[unit] != want {
			t.Errorf("unit %s: %q, want %q", unit, got.units[unit], want)
		}
	}
	if _, ok := got.units["dtlb_misses/msg"]; ok {
		t.Error("a unit nothing was measured in")
	}
}

func TestBenchfmtCountsThatVaryAreNotExact(t *testing.T) {
	got := parseBench(t, textOf(t, "benchfmt", reportOf(t, troubled()), Options{}))
	if got.units["syscalls/msg"] != "better=lower" {
		t.Errorf("syscalls: %q", got.units["syscalls/msg"])
	}
}

func TestBenchNames(t *testing.T) {
	for in, want := range map[string]string{
		"open(50%)": "open(50%)", "a b/c": "a%20b%2Fc", "a%20b": "a%2520b", "tab\tx": "tab%20x", "50%zz": "50%zz",
	} {
		if got := benchWord(in); got != want {
			t.Errorf("benchWord(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"B/case=x-2": "B/case=x%2D2", "B/case=x-2a": "B/case=x-2a", "B/case=x-": "B/case=x-", "B": "B"} {
		if got := benchTail(in); got != want {
			t.Errorf("benchTail(%q) = %q, want %q", in, got, want)
		}
	}
	if got := benchTitle("uring-fixed-vs-inc"); got != "UringFixedVsInc" {
		t.Errorf("title %q", got)
	}
}
