//go:build cgo && !noverbs

package verbs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

func TestMain(m *testing.M) {
	guest.Hook()
	os.Exit(m.Run())
}

// inGuest marks the test process that runs in the guest, shimFile the shim as it
// is seen there.
const (
	inGuest  = "ZC_TEST_IN_GUEST"
	shimFile = "ZC_TEST_SHIM"
)

// guestMemory holds the buffers of the deepest window and a Go test.
const guestMemory = 512 << 20

// runInGuest runs this test binary in a guest and returns what it printed.
func runInGuest(t testing.TB, args ...string) string {
	t.Helper()
	if err := Load(); err != nil {
		t.Skip(err)
	}
	g := guesttest.Start(t, guest.Options{MemBytes: guestMemory})
	bring := func(path string) string {
		to, err := g.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	path, err := shim.Path(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), inGuest+"=1", shimFile+"="+bring(path), "HOME=/tmp", "TMPDIR=/tmp")
	program := guest.Program{Argv: append([]string{bring(os.Args[0])}, args...), Env: env}
	r, err := g.Exec(t.Context(), guest.Command{Program: program, Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	out := string(r.Stdout)
	if err := r.Err(); err != nil || r.TimedOut {
		t.Fatalf("in the guest: %v (timed out: %v)\n%s%s", err, r.TimedOut, out, r.Stderr)
	}
	return out
}

var ended = regexp.MustCompile(`(?m)^--- (PASS|SKIP|FAIL): (TestDevice\w*)`)

// TestInGuest runs every test of a device on the guest's soft-RoCE device. There
// none has a reason to be skipped.
func TestInGuest(t *testing.T) {
	if os.Getenv(inGuest) != "" || os.Getenv(underShim) != "" {
		t.Skip("this is the guest")
	}
	out := runInGuest(t, "-test.run=^TestDevice", "-test.v")
	results := ended.FindAllStringSubmatch(out, -1)
	if len(results) < 20 {
		t.Errorf("only %d tests ran in the guest:\n%s", len(results), out)
	}
	for _, r := range results {
		if r[1] != "PASS" {
			t.Errorf("%s in the guest: %s", r[2], r[1])
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// BenchmarkInGuest runs the benchmarks on the guest's device.
func BenchmarkInGuest(b *testing.B) {
	if os.Getenv(inGuest) != "" {
		b.Skip("this is the guest")
	}
	for b.Loop() {
		out := runInGuest(b, "-test.run=^$", "-test.bench=ArrayLinkedOverBare|WindowOverhead", "-test.benchtime=1x")
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "Benchmark") {
				b.Log(strings.TrimSpace(line))
			}
		}
		worst, overhead := metric(b, out, "ratio_upper"), metric(b, out, "%")
		b.ReportMetric(worst, "ratio_upper")
		b.ReportMetric(overhead, "overhead%")
		if worst > 1.03 || overhead > 1 {
			b.Errorf("array-linked costs up to %.3f of a bare loop, at most 1.03 is allowed; a window's overhead is %.2f%%, at most 1%%", worst, overhead)
		}
	}
}

// metric is the largest value of a metric in benchmark output.
func metric(b *testing.B, out, unit string) float64 {
	b.Helper()
	most := -1.0
	for _, m := range regexp.MustCompile(`\s([0-9.]+) `+regexp.QuoteMeta(unit)+`(\s|$)`).FindAllStringSubmatch(out, -1) {
		var v float64
		if _, err := fmt.Sscan(m[1], &v); err != nil {
			b.Fatal(err)
		}
		most = max(most, v)
	}
	if most < 0 {
		b.Fatalf("no %s in:\n%s", unit, out)
	}
	return most
}
