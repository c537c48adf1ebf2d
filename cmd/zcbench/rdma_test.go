package main

import (
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
)

// needRDMA makes sure posts can be measured here: on a device, or in a guest.
func needRDMA(t *testing.T) {
	t.Helper()
	if reason, remedy := rdmaimpl.Libraries(); reason != "" {
		t.Skipf("%s; %s", reason, remedy)
	}
	if _, _, reason, _ := rdmaimpl.Local(""); reason != "" {
		guesttest.Options(t, guest.Options{})
	}
}

var rdmaQuestions = []string{"rdma-post-recv", "rdma-post-send", "rdma-payload", "rdma-connect", "alloc-aging"}

func TestRDMAQuestions(t *testing.T) {
	needRDMA(t)
	dir := t.TempDir()
	args := append([]string{"run"}, rdmaQuestions...)
	r := zcbench(t, nil, "", append(args, "--smoke", "-o", dir, "--require", "rdma")...)
	r.want(t, exitOK)
	for _, name := range rdmaQuestions {
		t.Run(name, func(t *testing.T) {
			res := readResult(t, filepath.Join(dir, name))
			skips := slices.DeleteFunc(slices.Clone(res.Skips), optional)
			if res.Footer.Failed != 0 || len(skips) != 0 {
				t.Errorf("%d trials failed, skips %+v", res.Footer.Failed, skips)
			}
			if class, _ := res.Header.Environment.Get("class"); class != rdmaimpl.ClassGuest && class != rdmaimpl.ClassHardware && class != rdmaimpl.ClassSoft {
				t.Errorf("class %q", class)
			}
			checkLimits(t, res)
		})
	}
	checkGuard(t, readResult(t, filepath.Join(dir, "rdma-post-recv")))
}

// optional tells whether a skip is of an adapter that make builds, and no test.
func optional(s record.Skip) bool {
	return strings.HasPrefix(s.Case, "exec{") && strings.Contains(s.Remedy, "make adapters")
}

// checkLimits allows skipped trials only where a payload is beyond the device's
// inline limit, which they must name.
func checkLimits(t *testing.T, res *record.Result) {
	t.Helper()
	for _, l := range res.Trials {
		if l.Record.Status != record.Skipped {
			continue
		}
		if !strings.Contains(l.Trial.Strategy, "inline") || !strings.Contains(l.Record.Error, "limit") {
			t.Errorf("%s skipped: %s", l.Trial.ID, l.Record.Error)
		}
	}
}

// checkGuard holds the receive guard's counts against the exact model of the
// discussed guard: two arrays that start at four elements and double, 32 and 16
// bytes an element.
func checkGuard(t *testing.T, res *record.Result) {
	t.Helper()
	seen := 0
	for _, l := range res.Trials {
		if l.Trial.Strategy != "guard" || l.Trial.Purpose != record.Counting {
			continue
		}
		seen++
		n := l.Trial.Workload.Batch
		k := 0
		if n > 4 {
			k = bits.Len(uint((n - 1) / 4))
		}
		s := 4 * (1<<(k+1) - 1) // 4 + 8 + .. + the last capacity
		for metric, want := range map[string]int{"lane_allocs": 2, "lane_reallocs": 2 * k, "lane_frees": 2, "lane_alloc_bytes": 48 * s, "provider_allocs": 0, "post_syscalls": 0} {
			v := l.Record.Metrics[metric]
			if v.Num != int64(want)*v.Den {
				t.Errorf("%s: %s is %d/%d, want %d a call", l.Trial.ID, metric, v.Num, v.Den, want)
			}
		}
	}
	if seen == 0 {
		t.Error("no counting trial of guard")
	}
}

func TestNoDeviceAndNoGuestIsASkip(t *testing.T) {
	if _, _, reason, _ := rdmaimpl.Local(""); reason == "" {
		t.Skip("there is an RDMA device here")
	}
	empty := []string{"XDG_CACHE_HOME=" + t.TempDir()}
	dir := t.TempDir()
	zcbench(t, empty, "", "run", "rdma-post-recv", "--smoke", "-o", filepath.Join(dir, "r")).want(t, exitOK)
	for _, s := range readResult(t, filepath.Join(dir, "r")).Skips {
		if s.Reason == "" || s.Remedy == "" {
			t.Errorf("skip without reason or remedy: %+v", s)
		}
	}
	r := zcbench(t, empty, "", "run", "rdma-post-recv", "--smoke", "-o", filepath.Join(dir, "s"), "--require", "rdma")
	r.want(t, exitFailed)
	if !strings.Contains(r.errOut, "rdma is required") {
		t.Errorf("stderr: %s", r.errOut)
	}
}

// TestDeviceFlags runs zcbench itself inside a guest, where --device finds the
// guest's device and --soft-roce makes another and takes it away again.
func TestDeviceFlags(t *testing.T) {
	needRDMA(t)
	g := guesttest.Start(t, guest.Options{})
	for name, flags := range map[string][]string{"device": {"--device", "rxe0"}, "soft-roce": {"--soft-roce", "lo"}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(g.Scratch(), name)
			argv := append([]string{g.Program(), "run", "rdma-post-recv", "--smoke", "--filter", "array", "-o", dir, "--require", "rdma"}, flags...)
			r, err := g.Exec(t.Context(), guest.Command{Program: guest.Program{
				Argv: argv, Privileged: true, Env: g.Env(actAsZcbench+"=1", "XDG_CACHE_HOME="+filepath.Join(g.Scratch(), "cache")),
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Err(); err != nil {
				t.Fatalf("%v\n%s", err, r.Stderr)
			}
			res := readResult(t, dir)
			class, _ := res.Header.Environment.Get("class")
			if res.Footer.Failed != 0 || class != rdmaimpl.ClassSoft {
				t.Errorf("class %q, footer %+v", class, res.Footer)
			}
		})
	}
	r, err := g.Exec(t.Context(), guest.Command{Program: guest.Program{Argv: []string{"/bin/ls", "/sys/class/infiniband"}}})
	if err != nil || strings.TrimSpace(string(r.Stdout)) != "rxe0" {
		t.Errorf("devices left: %q (%v)", r.Stdout, err)
	}
}
