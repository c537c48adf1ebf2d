package scenarios

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func mustParse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("demo.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseReadsEveryKey(t *testing.T) {
	s := mustParse(t, base)
	if s.Digest != fmt.Sprintf("%x", sha256.Sum256([]byte(base))) || s.Text != base || s.File != "demo.yaml" {
		t.Error("file, text or digest is wrong")
	}
	got := *s
	got.Text, got.Digest, got.source = "", "", nil
	fixed := CaseRef{Strategy: "ring-fixed"}
	inc := CaseRef{Strategy: "ring-inc"}
	chunk := func(v string) CaseRef { return CaseRef{"ring-fixed", map[string]string{"chunk": v}} }
	want := Scenario{
		File: "demo.yaml", Name: "demo", Title: "A demonstration", Question: "Does it work?", Kind: "receive",
		Workload: Workload{
			Transport: []string{"tcp"}, Clients: []Clients{{N: 1}, {N: 16}}, Budget: []int64{262144}, Hold: []Hold{{}},
			Sizes: []Sizes{{Kind: "lognormal", Median: 2048, Sigma: 1.6, Max: 65536}},
			Load:  []Load{{Mode: "open", Fraction: .5}}, Traffic: []Traffic{{}},
			Assembly: []string{"contiguous"}, Touch: []string{"header"}, Reply: []int64{0},
		},
		Strategies: []StrategyUse{
			{Name: "ring-fixed", Params: map[string][]string{"chunk": {"4KiB", "64KiB"}}}, {Name: "ring-inc"},
			{Name: "exec", Command: []string{"./mine", "-v", "-v"}},
		},
		Baseline: chunk("4KiB"),
		Measure: Measure{Blocks: 10, Messages: 20000, CountingMessages: 4000, VerifyMessages: 2000, CountingTrials: 3,
			Alpha: .05, TimeoutNS: 30e9},
		Metrics:  []string{"latency_p99", "cpu_per_msg"},
		Headline: Headline{A: inc, B: chunk("64KiB"), Metrics: []string{"latency_p99"}, Plot: "residency"},
		Claims: []Claim{{ID: "one", Text: "It is less.", Source: "me", Kind: "compare", Metric: "wasted_bytes", A: inc, B: fixed,
			At: "all", Stat: "ratio", Expect: "less", By: .1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDefaults(t *testing.T) {
	s := mustParse(t, withValue("metrics", "[m]"))
	if got := fmt.Sprint(s.Measure); got != "{10 20000 4000 2000 3 0.05 30000000000}" {
		t.Error(got)
	}
	if got := fmt.Sprint(s.Workload.Transport, s.Workload.Hold, s.Workload.Assembly, s.Workload.Touch); got != "[tcp] [{0 0 0}] [contiguous] [header]" {
		t.Error(got)
	}
}

func TestClaims(t *testing.T) {
	const old = "kind: compare, metric: wasted_bytes, a: {name: ring-inc}, b: {name: ring-fixed}, at: all, stat: ratio, expect: less, by: 10%, needs: any"
	inc, fixed := CaseRef{Strategy: "ring-inc"}, CaseRef{Strategy: "ring-fixed"}
	for text, want := range map[string]Claim{
		"metric: m, a: {name: ring-inc}, b: {name: ring-fixed}, expect: same, by: .2":                     {Kind: "compare", Metric: "m", A: inc, B: fixed, At: "all", Stat: "ratio", Expect: "same", By: .2},
		"metric: m, a: {name: ring-inc}, b: {name: ring-fixed}, stat: diff, expect: greater, by: 4KiB":    {Kind: "compare", Metric: "m", A: inc, B: fixed, At: "all", Stat: "diff", Expect: "greater", By: 4096},
		"metric: m, a: {name: ring-inc}, b: {name: ring-fixed}, expect: greater, by: 300%":                {Kind: "compare", Metric: "m", A: inc, B: fixed, At: "all", Stat: "ratio", Expect: "greater", By: 3},
		`kind: bound, metric: m, a: {name: ring-inc}, at: "clients=1,hold=0", expect: less, by: 10us`:     {Kind: "bound", Metric: "m", A: inc, At: "clients=1,hold=0", Expect: "less", By: 10e-6},
		"kind: bound, metric: m, a: {name: ring-inc}, expect: greater, by: 2, needs: hardware":            {Kind: "bound", Metric: "m", A: inc, At: "all", Expect: "greater", By: 2, Needs: "hardware"},
		"kind: probe, metric: pbuf-inc, expect: supported":                                                {Kind: "probe", Metric: "pbuf-inc", Expect: "supported"},
		"kind: probe, metric: copy-x, expect: read at the post, needs: soft":                              {Kind: "probe", Metric: "copy-x", Expect: "read at the post", Needs: "soft"},
		"kind: probe, metric: pbuf-ring-entries, expect: at least 65536":                                  {Kind: "probe", Metric: "pbuf-ring-entries", Expect: "at least", By: 65536},
		"kind: probe, metric: memlock, expect: at most 4KiB":                                              {Kind: "probe", Metric: "memlock", Expect: "at most", By: 4096},
		"metric: m, a: {name: ring-inc}, b: {name: ring-fixed}, stat: diff, expect: less, by: 2, at: 'x'": {Kind: "compare", Metric: "m", A: inc, B: fixed, At: "x", Stat: "diff", Expect: "less", By: 2},
	} {
		want.ID, want.Text, want.Source = "one", "It is less.", "me"
		if got := mustParse(t, edited(t, old, text)).Claims[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

func TestSmoke(t *testing.T) {
	// The smoke key may come before what it overrides.
	head, smoke, _ := strings.Cut(base, "smoke:")
	s := mustParse(t, "smoke:"+smoke+head)
	m, err := s.Smoke()
	if err != nil {
		t.Fatal(err)
	}
	want := *s
	want.Workload.Clients = []Clients{{N: 4}}
	want.Measure.Blocks, want.Measure.Messages = 2, 400
	want.IsSmoke = true
	got := *m
	want.source, got.source = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if again, err := m.Smoke(); again != m || err != nil {
		t.Errorf("smoke of smoke is %p, %v; want %p", again, err, m)
	}
	if s.IsSmoke || s.Measure.Blocks != 10 || s.Workload.Clients[0].N != 1 {
		t.Error("the scenario itself has changed")
	}
	var e *Error
	if _, err := mustParse(t, head).Smoke(); !errors.As(err, &e) || e.Line != 1 {
		t.Errorf("without smoke overrides: %v", err)
	}
}

func TestErrorf(t *testing.T) {
	s := mustParse(t, base)
	smoke, err := s.Smoke()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s         *Scenario
		path      string
		line, col int // of the value
		key       int // column of the key
	}{
		{s, "", 1, 1, 1},
		{s, "name", 2, 7, 1},
		{s, "strategies[0].params.chunk", 17, 14, 14},
		{s, "strategies[0].params.chunk[1]", 17, 28, 28},
		{s, "strategies[0].params.chunk[7]", 17, 14, 14},
		{s, "strategies[0].params.entries", 17, 5, 5},
		{s, "strategies[0].name", 16, 11, 5},
		{s, "strategies[1].params.chunk", 18, 5, 5},
		{s, "strategies[9]", 15, 1, 1},
		{s, "workload.budget", 10, 11, 3},
		{s, "workload.budget[0]", 10, 11, 3},
		{s, "workload.sizes[0].lognormal.max", 9, 3, 3},
		{s, "workload.sizes.lognormal.max", 9, 54, 49},
		{s, "workload.clients[1]", 8, 16, 16},
		{s, "claims[0].metric", 25, 69, 61},
		{s, "metrics[1]", 22, 24, 24},
		{s, "nothing.at.all", 1, 1, 1},
		{smoke, "workload.clients[0]", 28, 23, 14},
		{smoke, "workload.budget", 10, 11, 3},
		{smoke, "measure.blocks", 27, 21, 13},
		{smoke, "measure.alpha", 21, 115, 108},
	} {
		e := c.s.Errorf(c.path, "no %s", "luck")
		if e.Line != c.line || e.Col != c.col || e.Msg != "no luck" || e.File != "demo.yaml" {
			t.Errorf("%s stands at %d:%d %q, want %d:%d", c.path, e.Line, e.Col, e.Msg, c.line, c.col)
		}
		if e := c.s.KeyErrorf(c.path, "x"); e.Col != c.key {
			t.Errorf("the key of %s stands at column %d, want %d", c.path, e.Col, c.key)
		}
	}
	if e := (&Scenario{File: "made"}).Errorf("name", "x"); e.Error() != "made:1:1: x\n  \n  ^" {
		t.Errorf("%q", e.Error())
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("mine.yaml", []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("null", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mine.yaml": "mine.yaml", filepath.Join(dir, "mine.yaml"): filepath.Join(dir, "mine.yaml"),
		"null": "null", "null.yaml": "null", "uring-fixed-vs-inc": "uring-fixed-vs-inc",
	} {
		s, err := Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if builtIn := !strings.HasSuffix(want, "mine.yaml"); s.File != want || s.BuiltIn != builtIn {
			t.Errorf("%s has the file %s, built in: %t; want %s, %t", name, s.File, s.BuiltIn, want, builtIn)
		} else if smoke, err := s.Smoke(); err != nil || smoke.BuiltIn != builtIn {
			t.Errorf("the smoke variant of %s is built in: %t, %v", name, smoke.BuiltIn, err)
		}
	}
	for name, want := range map[string]string{
		"nul":            `"null"?`,
		"mine":           "(built in: " + strings.Join(Embedded(), ", ") + ")",
		"x/null.yaml":    "no file and no built-in scenario",
		dir:              "a directory, not a scenario file",
		"mine.yaml/deep": "not a directory",
	} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	// A file of that name comes before the built-in scenario.
	if err := os.WriteFile("null.yaml", []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := Open("null.yaml"); err != nil || s.Name != "demo" {
		t.Errorf("the file beside does not win: %v", err)
	}
	if err := os.WriteFile("big.yaml", make([]byte, MaxFileBytes+5), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("big.yaml"); err == nil || !strings.Contains(err.Error(), "big.yaml:1:1: the file has") {
		t.Errorf("a file over the limit: %v", err)
	}
}

func TestOpenStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	old := os.Stdin
	defer func() { os.Stdin = old }()
	os.Stdin = f
	if s, err := Open("-"); err != nil || s.Name != "demo" || s.File != "stdin" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestEmbeddedScenarios(t *testing.T) {
	names := Embedded()
	for _, want := range []string{"null", "uring-fixed-vs-inc", "uring-fixed-vs-inc-full"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not built in", want)
		}
	}
	for _, name := range names {
		s, err := Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != name {
			t.Errorf("%s names itself %s", name, s.Name)
		}
		smoke, err := s.Smoke()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if smoke.Measure.Messages > 1000 || smoke.Measure.Blocks > 2 {
			t.Errorf("%s: the smoke run measures %d blocks of %d messages", name, smoke.Measure.Blocks, smoke.Measure.Messages)
		}
	}
}
