package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

// Benchfmt writes the trials in the Go benchmark data format (golang.org/design/14313-benchmark-format),
// one line per trial, so that benchstat sees as many samples as there are
// trials. Times are in seconds. `benchstat -col /case` compares the cases. The
// options do not matter.
func Benchfmt(w io.Writer, r *analyze.Report, _ Options) error {
	bw := bufio.NewWriter(w)
	for i := range r.Scenarios {
		if i > 0 {
			bw.WriteByte('\n')
		}
		benchScenario(bw, &r.Scenarios[i])
	}
	return bw.Flush()
}

func benchScenario(w *bufio.Writer, s *analyze.Scenario) {
	for _, kv := range [][2]string{{"goarch", envValue(s, "arch")}, {"cpu", envValue(s, "cpu_model")}, {"kernel", envValue(s, "kernel")},
		{"pkg", "zcbench/" + s.Info.Name}, {"zcbench", s.Tool.Version}, {"scenario-digest", s.Info.Digest}} {
		if v := strings.TrimSpace(Sanitize(kv[1])); v != "" {
			fmt.Fprintf(w, "%s: %s\n", kv[0], v)
		}
	}
	for _, m := range s.Metrics {
		benchUnit(w, s, m)
	}
	for i := range s.Points {
		p := &s.Points[i]
		for k := range p.Cases {
			benchCase(w, s, p, &p.Cases[k])
		}
	}
}

func envValue(s *analyze.Scenario, key string) string {
	v, _ := s.Environment.Get(key)
	return v
}

// benchUnit says what benchstat should assume of a metric.
func benchUnit(w *bufio.Writer, s *analyze.Scenario, m record.Metric) {
	var facts string
	if m.Better != "" {
		facts += " better=" + string(m.Better)
	}
	exact, seen := true, false
	for i := range s.Points {
		for k := range s.Points[i].Cases {
			if c := s.Points[i].Cases[k].Cells[m.Name]; c.N > 0 {
				seen, exact = true, exact && c.Exact
			}
		}
	}
	if seen && exact {
		facts += " assume=exact"
	}
	if seen && facts != "" {
		fmt.Fprintf(w, "Unit %s%s\n", unitOf(m), facts)
	}
}

// unitOf names a metric with its unit as benchstat understands it: "sec" and
// "B" scale, a denominator follows a slash.
func unitOf(m record.Metric) string {
	unit := benchWord(m.Name)
	switch m.Unit {
	case record.UnitSeconds:
		unit += "-sec"
	case record.UnitOne, "":
	default:
		unit += "-" + benchWord(m.Unit)
	}
	if m.Per != "" {
		unit += "/" + benchWord(m.Per)
	}
	return unit
}

// trialKey tells a case's trials apart.
type trialKey struct{ purpose, block, repeat int }

// benchCase writes one line for each trial, with every metric it reported.
func benchCase(w *bufio.Writer, s *analyze.Scenario, p *analyze.Point, c *analyze.Case) {
	lines := map[trialKey][]string{}
	for _, m := range s.Metrics {
		purpose := 0
		if m.Purpose == record.Counting {
			purpose = 1
		}
		for _, v := range c.Cells[m.Name].Samples {
			if math.IsNaN(v.V) || math.IsInf(v.V, 0) {
				continue
			}
			k := trialKey{purpose, v.Block, v.Repeat}
			lines[k] = append(lines[k], strconv.FormatFloat(v.V, 'g', -1, 64)+" "+unitOf(m))
		}
	}
	keys := slices.SortedFunc(maps.Keys(lines), func(a, b trialKey) int {
		return cmp.Or(cmp.Compare(a.purpose, b.purpose), cmp.Compare(a.block, b.block), cmp.Compare(a.repeat, b.repeat))
	})
	for _, k := range keys {
		fmt.Fprintf(w, "%s 1 %s\n", benchName(s, p, c), strings.Join(lines[k], " "))
	}
}

// benchName is the benchmark's full name: the scenario, then key=value parts.
func benchName(s *analyze.Scenario, p *analyze.Point, c *analyze.Case) string {
	name := "Benchmark" + benchTitle(s.Info.Name) + "/case=" + benchWord(c.Info.Label)
	if c.Info.Build != "" {
		name += "/build=" + benchWord(c.Info.Build)
	}
	if p.Info.ID != "" {
		name += "/point=" + benchWord(p.Info.ID)
	}
	return benchTail(name)
}

// benchTitle turns a scenario's name into the camel case of Go benchmarks.
func benchTitle(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r := []rune(part)
		r[0] = unicode.ToUpper(r[0])
		b.WriteString(string(r))
	}
	return benchWord(b.String())
}

// benchWord is one word without a slash: what would end it, and a percent sign
// that reads as an escape, become percent escapes.
func benchWord(s string) string {
	s = Sanitize(s)
	var b strings.Builder
	for i, r := range s {
		if r == ' ' || r == '/' || r == '%' && isHex(s, i+1) && isHex(s, i+2) {
			fmt.Fprintf(&b, "%%%02X", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isHex(s string, i int) bool {
	return i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0
}

// benchTail keeps a name that ends in -digits from being read as one with a
// GOMAXPROCS suffix.
func benchTail(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name
	}
	return name[:i] + "%2D" + name[i+1:]
}
