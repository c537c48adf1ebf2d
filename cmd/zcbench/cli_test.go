package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

func TestUsageErrors(t *testing.T) {
	for name, args := range map[string][]string{
		"no such command":  {"frobnicate"},
		"no such scenario": {"run", "uring-fixed-vs-ink"},
		"no such flag":     {"run", question, "--smokey"},
		"bad only":         {"run", question, "--only", "times"},
		"bad requirement":  {"run", question, "--require", "nvme"},
		"one build":        {"run", question, "--ab", "old=/bin/true"},
		"missing build":    {"run", question, "--ab", "old=/bin/true", "new=/no/such"},
		"no match":         {"run", question, "--filter", "nothing-*", "--dry-run"},
		"bad glob":         {"run", question, "--filter", "[", "--dry-run"},
		"too few blocks":   {"run", question, "--blocks", "3", "--dry-run"},
		"no argument":      {"report"},
		"bad list":         {"list", "things"},
	} {
		t.Run(name, func(t *testing.T) {
			r := zcbench(t, nil, "", args...)
			r.want(t, exitUsage)
			if !strings.HasPrefix(r.errOut, "zcbench: ") || r.out != "" {
				t.Errorf("stdout %q, stderr %q", r.out, r.errOut)
			}
		})
	}
}

func TestScenarioErrorsPointAtTheLine(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/" + question + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":      {"  clients: 16", "  cleints: 16", "clients"},
		"unknown strategy": {"- name: ring-inc", "- name: ring-ink", `did you mean "ring-inc"`},
		"unknown metric":   {"  - latency_p50", "  - latency_p51", "latency_p5"},
		"unknown param":    {"{chunk: [4KiB, 64KiB]}", "{chunks: [4KiB, 64KiB]}", `did you mean "chunk"`},
		"chunk too large":  {"{chunk: [4KiB, 64KiB]}", "{chunk: [4KiB, 64KiB, 1MiB]}", "budget"},
		"too few blocks":   {"  blocks: 16", "  blocks: 4", "use at least"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(string(text), c.old, c.new, 1)
			if bad == string(text) {
				t.Fatalf("%q is not in the scenario", c.old)
			}
			file := filepath.Join(t.TempDir(), "s.yaml")
			if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			r := zcbench(t, nil, "", "validate", file)
			r.want(t, exitUsage)
			if !regexp.MustCompile(regexp.QuoteMeta(file)+`:\d+:\d+: `).MatchString(r.errOut) || !strings.Contains(r.errOut, c.want) {
				t.Errorf("want file:line:col and %q, got:\n%s", c.want, r.errOut)
			}
		})
	}
}

func TestValidateEveryScenario(t *testing.T) {
	zcbench(t, nil, "", append([]string{"validate"}, scenarios.Embedded()...)...).want(t, exitOK)
	text, err := os.ReadFile("../../scenarios/" + question + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	zcbench(t, nil, string(text), "validate", "-").want(t, exitOK)
}

func TestDryRunTellsThePlan(t *testing.T) {
	r := zcbench(t, nil, "", "run", question, "--dry-run")
	r.want(t, exitOK)
	if !regexp.MustCompile(`\d+ cases, \d+ trials, about \d+`).MatchString(r.out) {
		t.Errorf("no trial count and time in:\n%s", r.out)
	}
	if !strings.Contains(r.out, "(baseline)") || !strings.Contains(r.out, "/timing/block16") {
		t.Errorf("no baseline or last block in:\n%s", r.out)
	}
	if again := zcbench(t, nil, "", "run", question, "--dry-run"); again.out != r.out {
		t.Error("two dry runs of one seed differ")
	}
}

func TestListNamesEverything(t *testing.T) {
	r := zcbench(t, nil, "", "list")
	r.want(t, exitOK)
	for _, s := range registry() {
		if !strings.Contains(r.out, s.Name) || s.Summary == "" {
			t.Errorf("strategy %s is not listed with a summary", s.Name)
		}
	}
	for _, m := range harness.Metrics(record.KindReceive) {
		if !strings.Contains(r.out, m.Name) {
			t.Errorf("metric %s is not listed", m.Name)
		}
	}
}

func TestEnvIsMachineReadable(t *testing.T) {
	r := zcbench(t, nil, "", "env", "--json")
	r.want(t, exitOK)
	var items []struct{ Key, Value, Unavailable string }
	if err := json.Unmarshal([]byte(r.out), &items); err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if (it.Value == "") == (it.Unavailable == "") {
			t.Errorf("%s: value %q, unavailable %q: want exactly one", it.Key, it.Value, it.Unavailable)
		}
	}
}

func TestCompletionAndHelp(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := zcbench(t, nil, "", "completion", shell)
		r.want(t, exitOK)
		if !strings.Contains(r.out, "zcbench") {
			t.Errorf("%s completion does not name zcbench", shell)
		}
	}
	r := zcbench(t, nil, "", "__complete", "run", "uring-")
	if !strings.Contains(r.out, question) {
		t.Errorf("scenarios are not completed: %q", r.out)
	}
	for _, sub := range newRoot().Commands() {
		if !sub.Hidden && sub.Example == "" && sub.Name() != "completion" && sub.Name() != "help" {
			t.Errorf("%s has no examples", sub.Name())
		}
	}
}

func TestUnreadableResultsExit3(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty":     "",
		"truncated": `{"header":{"schema":1`,
		"binary":    "\x00\x01\x02\n",
		"utf16":     "\xff\xfe{\x00}\x00\n\x00",
		"other":     `{"trial":{}}` + "\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r := zcbench(t, nil, "", "report", file)
		r.want(t, exitResult)
		if !strings.Contains(r.errOut, file+":1:") {
			t.Errorf("%s: the line is not named: %q", name, r.errOut)
		}
		if after, _ := os.ReadFile(file); string(after) != content {
			t.Errorf("%s was changed", name)
		}
	}
	zcbench(t, nil, "", "report", filepath.Join(dir, "no-such")).want(t, exitResult)
}
