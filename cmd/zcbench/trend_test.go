package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

func TestTrend(t *testing.T) {
	res := counted(t)
	root := t.TempDir()
	for i, name := range []string{"c", "a", "b"} { // older last: names are no order
		dir := writeResult(t, res, func(h *record.Header, trials []record.TrialLine) {
			h.Started = time.Date(2026, 5, 20-i, 0, 0, 0, 0, time.UTC)
			for k := range trials {
				if v, ok := trials[k].Record.Metrics["syscalls"]; ok {
					v.Num = int64(7 * (3 - i))
					trials[k].Record.Metrics["syscalls"] = v
				}
			}
		})
		if err := os.Rename(dir, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := zcbench(t, nil, "", "report", "--trend", root)
	r.want(t, exitOK)
	if got := unwrapped(r.out); !strings.Contains(got, "3 runs, 2026-05-18") || !strings.Contains(got, "3x") {
		t.Errorf("no three runs in order:\n%s", r.out)
	}
	html, pngs := filepath.Join(root, "t.html"), filepath.Join(root, "png")
	zcbench(t, nil, "", "report", "--trend", root, "--html", html, "--png", pngs, "--csv", "-").want(t, exitOK)
	page, err := os.ReadFile(html)
	if err != nil || !strings.Contains(string(page), "System calls per message over time") {
		t.Errorf("%v: the page does not show what changed", err)
	}
	if found, _ := filepath.Glob(filepath.Join(pngs, "*.png")); len(found) != 1 {
		t.Errorf("plots %v, want the one of what changed", found)
	}
	zcbench(t, nil, "", "report", "--trend", root, "extra").want(t, exitUsage)
	zcbench(t, nil, "", "report", "--trend", root, "--benchfmt", "-").want(t, exitUsage)
	zcbench(t, nil, "", "report", "--trend", t.TempDir()).want(t, exitResult)
	if err := os.WriteFile(filepath.Join(root, "a", record.FileName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	zcbench(t, nil, "", "report", "--trend", root).want(t, exitResult)
}
