package probe

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

func aProbe() record.Probe {
	return record.Probe{Schema: record.ProbeSchema, Kernel: "6.18", Time: time.Unix(1, 0).UTC(), Findings: []record.Finding{
		{Sort: record.LimitFound, Family: "uring", Name: "sq-entries", Verdict: record.LimitIs, Value: 32768},
	}}
}

func TestCacheKeepsAProbe(t *testing.T) {
	c := Cache{Path: filepath.Join(t.TempDir(), "a", "probe.json"), Key: "this machine"}
	if _, ok := c.Load(); ok {
		t.Error("a probe from no file")
	}
	if err := c.Store(aProbe()); err != nil {
		t.Fatal(err)
	}
	got, ok := c.Load()
	if !ok || !reflect.DeepEqual(got, aProbe()) {
		t.Errorf("got %+v, %v", got, ok)
	}
	if _, ok := (Cache{Path: c.Path, Key: "that machine"}).Load(); ok {
		t.Error("the probe of another key fits")
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(c.Path), "*.tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCorruptCacheIsIgnoredAndReplaced(t *testing.T) {
	c := Cache{Path: filepath.Join(t.TempDir(), "probe.json"), Key: "k"}
	if err := c.Store(aProbe()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "cut": string(whole[:len(whole)/2]), "binary": "\x00\xff", "other json": "[1]",
		"verdict": strings.Replace(string(whole), `"found"`, `"maybe"`, 1), "schema": strings.Replace(string(whole), `"schema":1`, `"schema":2`, 1),
		"no findings": `{"key":"k","probe":{"schema":1}}`, "endless": strings.Repeat(" ", maxCacheBytes) + string(whole),
	} {
		if text == string(whole) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := os.WriteFile(c.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, ok := c.Load(); ok {
			t.Errorf("%s: %+v", name, p)
		}
		if err := c.Store(aProbe()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := c.Load(); !ok {
			t.Errorf("%s: not replaced", name)
		}
	}
}

func TestMachineKeyDependsOnTheBinary(t *testing.T) {
	dir := t.TempDir()
	keys := map[string]bool{}
	for _, content := range []string{"one", "two"} {
		file := filepath.Join(dir, content)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, more := range []string{"device a", "device b"} {
			k, err := MachineKey(file, more)
			again, err2 := MachineKey(file, more)
			if err != nil || err2 != nil || k != again {
				t.Fatalf("%v, %v: %q and %q", err, err2, k, again)
			}
			keys[k] = true
		}
	}
	if len(keys) != 4 {
		t.Errorf("%d keys of 2 binaries and 2 devices", len(keys))
	}
	if _, err := MachineKey(filepath.Join(dir, "none")); err == nil {
		t.Error("a key of a program that is not there")
	}
}
