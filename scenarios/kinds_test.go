package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
)

// ofKind is a scenario of a kind with these lines of workload from line 7 on.
func ofKind(kind string, workload ...string) string {
	return "schema: zcbench/v1\nname: demo\ntitle: t\nquestion: q\nkind: " + kind + "\nworkload:\n  " +
		strings.Join(workload, "\n  ") + "\nstrategies: [{name: a}, {name: b}]\nbaseline: {name: a}\nmetrics: [total_per_wr]\n"
}

var (
	postLines    = []string{"batch: [1, 33]", "sges: [1, 4]", "buffers: [hot, cold]", "bytes: [64, 4KiB]"}
	payloadLines = []string{"bytes: [16, 4KiB]", "batch: 8", "buffers: cold"}
	connectLines = []string{"connect_data: [0, 56]", "accept_data: [0, 196B]"}
	agingLines   = []string{"batch: [5, 17]", "live: [1000, 20000]", "live_bytes: [{fixed: 64}, {uniform: {min: 24, max: 4KiB}}]"}
)

func TestKindsReadEveryAxis(t *testing.T) {
	post := Workload{Batch: []int{1, 33}, SGEs: []int{1, 4}, Buffers: []string{"hot", "cold"}, Bytes: []int64{64, 4096}}
	for _, c := range []struct {
		kind  string
		lines []string
		want  Workload
	}{
		{"rdma-post-recv", postLines, post},
		{"rdma-post-send", postLines, post},
		{"rdma-payload", payloadLines, Workload{Bytes: []int64{16, 4096}, Batch: []int{8}, Buffers: []string{"cold"}}},
		{"rdma-connect", connectLines, Workload{ConnectData: []int64{0, 56}, AcceptData: []int64{0, 196}}},
		{"alloc-aging", agingLines, Workload{
			Batch: []int{5, 17}, Live: []int{1000, 20000},
			LiveBytes: []Sizes{{Kind: "fixed", Bytes: 64}, {Kind: "uniform", Min: 24, Max: 4096}},
		}},
	} {
		s := mustParse(t, ofKind(c.kind, c.lines...))
		if s.Kind != c.kind || !reflect.DeepEqual(s.Workload, c.want) {
			t.Errorf("kind %s\ngot  %+v\nwant %s %+v", s.Kind, s.Workload, c.kind, c.want)
		}
		var keys []string
		for _, line := range c.lines {
			key, _, _ := strings.Cut(line, ":")
			keys = append(keys, key)
		}
		if !slices.Equal(Axes(c.kind), keys) {
			t.Errorf("%s has the axes %v, this test reads %v", c.kind, Axes(c.kind), keys)
		}
	}
}

func TestKindDefaults(t *testing.T) {
	post := Workload{Batch: []int{5}, SGEs: []int{1}, Buffers: []string{"hot"}, Bytes: []int64{64}}
	for kind, want := range map[string]struct {
		measure  string
		workload Workload
	}{
		"rdma-post-recv": {"{10 4000 400 200 3 0.05 30000000000}", post},
		"rdma-post-send": {"{10 1000 400 200 3 0.05 30000000000}", post},
		"rdma-payload":   {"{10 1000 400 200 3 0.05 30000000000}", Workload{Bytes: []int64{512}, Batch: []int{16}, Buffers: []string{"hot"}}},
		"rdma-connect":   {"{10 200 50 20 3 0.05 30000000000}", Workload{ConnectData: []int64{56}, AcceptData: []int64{0}}},
		"alloc-aging": {"{10 20000 20000 1000 6 0.05 60000000000}", Workload{
			Batch: []int{5}, Live: []int{1000}, LiveBytes: []Sizes{{Kind: "fixed", Bytes: 64}}}},
	} {
		for _, measure := range []string{"", "{}"} {
			s := mustParse(t, minimal(kind, "measure", measure))
			if got := fmt.Sprint(s.Measure); got != want.measure {
				t.Errorf("%s measures %s, want %s", kind, got, want.measure)
			}
			if !reflect.DeepEqual(s.Workload, want.workload) {
				t.Errorf("%s: got %+v, want %+v", kind, s.Workload, want.workload)
			}
		}
		s := mustParse(t, minimal(kind, "measure.blocks", "7"))
		if got := fmt.Sprint(s.Measure); got != strings.Replace(want.measure, "{10 ", "{7 ", 1) {
			t.Errorf("%s with 7 blocks measures %s", kind, got)
		}
	}
}

// What the docs call the default is what a file that does not say gets.
func TestMeasureDocsTellDefaultsAndUnits(t *testing.T) {
	unit := map[string]string{"receive": "Messages ", "rdma-connect": "Connections "}
	for _, k := range kinds() {
		m := mustParse(t, minimal(k.name, "measure", "")).Measure
		want := map[string]string{
			"blocks": fmt.Sprint(m.Blocks), "messages": fmt.Sprint(m.Messages), "counting_messages": fmt.Sprint(m.CountingMessages),
			"verify_messages": fmt.Sprint(m.VerifyMessages), "counting_trials": fmt.Sprint(m.CountingTrials),
			"alpha": fmt.Sprint(m.Alpha), "timeout": FormatDuration(m.TimeoutNS),
		}
		for _, key := range measureKeys(k, &Measure{}) {
			if !strings.HasSuffix(key.doc, " Default "+want[key.name]+".") {
				t.Errorf("%s: measure.%s is %s by default, its doc says: %s", k.name, key.name, want[key.name], key.doc)
			}
			if of := unit[k.name]; strings.HasSuffix(key.name, "messages") {
				if of == "" {
					of = "Posts (batches of work requests) "
				}
				if !strings.HasPrefix(key.doc, of) {
					t.Errorf("%s: the doc of measure.%s does not count %s: %s", k.name, key.name, of, key.doc)
				}
			}
		}
	}
}

// The docs of the axes that may be left out tell what TestKindDefaults asserts.
func TestAxisDocsTellDefaults(t *testing.T) {
	for kind, want := range map[string]map[string]string{
		KindPostRecv: {"sges": "Default 1.", "buffers": "hot (the default)", "bytes": "Default 64B."},
		KindPostSend: {"sges": "Default 1.", "buffers": "hot (the default)", "bytes": "Default 64B."},
		KindPayload:  {"batch": "Default 16.", "buffers": "hot (the default)"},
		KindConnect:  {"accept_data": "Default 0"},
		KindAging:    {},
	} {
		for _, axis := range kindOf(mustTree(t, "kind: "+kind)).axes(&Workload{}) {
			told, optional := want[axis.name]
			if axis.required == optional || !strings.Contains(axis.doc, told) || !optional && strings.Contains(axis.doc, "efault") {
				t.Errorf("%s: %s is required: %v, its doc: %s; want %q in it", kind, axis.name, axis.required, axis.doc, told)
			}
		}
	}
}

func mustTree(t *testing.T, text string) ast.Node {
	t.Helper()
	body, fault := parseTree("f.yaml", text, splitLines(text))
	if fault != nil {
		t.Fatal(fault)
	}
	return body
}

// The kind may come last: it decides the keys wherever it stands.
func TestKindStandsAnywhere(t *testing.T) {
	for kind, lines := range map[string][]string{"rdma-post-send": postLines, "rdma-connect": connectLines, "alloc-aging": agingLines} {
		text := ofKind(kind, lines...) + "smoke: {measure: {blocks: 1}}\n"
		moved := strings.Replace(text, "kind: "+kind+"\n", "", 1) + "kind: " + kind + "\n"
		first, last := mustParse(t, text), mustParse(t, moved)
		if last.Kind != kind || !reflect.DeepEqual(first.Workload, last.Workload) || first.Measure != last.Measure {
			t.Errorf("%s at the end: got %s %+v, want %+v", kind, last.Kind, last.Workload, first.Workload)
		}
		moved = strings.Replace(text, "kind: "+kind+"\n", "", 1) + "\"kind\": '" + kind + "'\n"
		if quoted := mustParse(t, moved); quoted.Kind != kind {
			t.Errorf("quoted, the kind is %s", quoted.Kind)
		}
	}
}

// A key of another kind is refused with the kinds it belongs to.
func TestForeignKeys(t *testing.T) {
	schema := compileSchema(t)
	optional := map[string]string{
		"transport": "tcp", "hold": "0", "assembly": "vectored", "touch": "payload", "reply": "4KiB", "traffic": "even",
		"sges": "1", "buffers": "hot", "bytes": "64", "batch": "5", "accept_data": "0",
	}
	refused := 0
	for _, kind := range Kinds() {
		for _, other := range Kinds() {
			for _, axis := range Axes(other) {
				value := cmp.Or(needed[other][axis], optional[axis])
				for _, text := range []string{
					minimal(kind, "workload."+axis, value), minimal(kind, "smoke.workload", "{"+axis+": "+value+"}"), minimal(kind, axis, value),
				} {
					mine := slices.Contains(Axes(kind), axis)
					if top := strings.Contains(text, "\n"+axis+":"); top && mine {
						continue // it belongs in workload, see TestKeyFaults
					}
					checkBoth(t, schema, text, mine)
					if !mine {
						refused++
						checkForeign(t, text, axis, other, kind)
					}
				}
			}
		}
	}
	if refused < 250 {
		t.Errorf("only %d foreign keys tried", refused)
	}
}

func checkForeign(t *testing.T, text, axis, other, kind string) {
	t.Helper()
	e := mustFault(t, text)
	unknown, rest, _ := strings.Cut(e.Msg, "; it belongs in the workload of kind ")
	kinds, mine, _ := strings.Cut(rest, ", this scenario is of kind ")
	names := strings.FieldsFunc(strings.ReplaceAll(kinds, " or ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
	if !strings.HasPrefix(unknown, fmt.Sprintf("unknown key %q in ", axis)) || !slices.Contains(names, other) || mine != kind {
		t.Errorf("%s of %s in %s: %s", axis, other, kind, e.Msg)
	}
	for _, k := range Kinds() {
		if slices.Contains(names, k) != slices.Contains(Axes(k), axis) {
			t.Errorf("%s: the kinds %v, wrong about %s", axis, names, k)
		}
	}
	if e.Suggest != "" || len(e.More) > 0 {
		t.Errorf("suggest %q, more faults %v", e.Suggest, e.More)
	}
}

// Without a kind, or with one nobody knows, the rest is read as far as it can
// be: one mistake is one fault.
func TestFaultyKinds(t *testing.T) {
	for _, kind := range Kinds() {
		text := minimal(kind, "kind", kind)
		for _, c := range []struct{ line, msg, suggest string }{
			{"", "the scenario lacks: kind", ""},
			{"kind: nothing-like-it", `"nothing-like-it" is no kind (known: receive, rdma-post-recv, `, ""},
			{"kind: " + kind + "x", "is no kind", kind},
			{"kind: [" + kind + "]", "expected one of receive, ", ""},
			{"kind:", "found nothing", ""},
		} {
			e := mustFault(t, strings.Replace(text, "kind: "+kind, c.line, 1))
			if !strings.Contains(e.Msg, c.msg) || e.Suggest != c.suggest || len(e.More) > 0 {
				t.Errorf("%q for %s: %v", c.line, kind, e)
			}
		}
		// The keys are checked even so, by the kind that was meant where one was.
		e := mustFault(t, strings.Replace(text, "kind: "+kind, "kind: "+kind+"x", 1)+"smoke: {workload: {zzzz: 1}}\n")
		if want := "(known: " + strings.Join(Axes(kind), ", ") + ")"; len(e.More) != 1 || !strings.Contains(e.Error(), want) {
			t.Errorf("want %s in\n%v", want, e)
		}
	}
	e := mustFault(t, minimal(KindPayload, "smoke.workload", "{batsh: 1}")+"kind: receive\n")
	if !strings.Contains(e.Error(), `the key "kind" is given twice`) {
		t.Errorf("two kinds: %v", e)
	}
	if got := Axes("nothing"); got != nil {
		t.Errorf("axes %v of no kind", got)
	}
}

func TestPostFaults(t *testing.T) {
	for _, kind := range []string{KindPostRecv, KindPostSend} {
		checkFaultsOf(t, ofKind(kind, postLines...), []faultCase{
			{"[1, 33]", "0", 7, 10, "0 is not a whole number from 1 to 1024", ""},
			{"[1, 33]", "[1, 1025]", 7, 14, "1025 is not a whole number from 1 to 1024", ""},
			{"[1, 33]", "[5, 5]", 7, 14, `"5" is in the list twice`, ""},
			{"[1, 33]", "4KiB", 7, 10, "is not a whole number", ""},
			{"metrics:", "sges: 4\nmetrics:", 13, 1, `unknown key "sges" in the scenario; it belongs in workload`, ""},
			{"metrics:", "live: 4\nmetrics:", 13, 1, "it belongs in the workload of kind alloc-aging, this scenario is of kind rdma-post-", ""},
			{"  batch: [1, 33]\n", "", 6, 1, "workload lacks: batch", ""},
			{"batch:", "bacth:", 7, 3, "unknown key", "batch"},
			{"[1, 4]", "17", 8, 9, "17 is not a whole number from 1 to 16", ""},
			{"[1, 4]", "0", 8, 9, "0 is not a whole number from 1 to 16", ""},
			{"[hot, cold]", "warm", 9, 12, `"warm" is no kind of buffers (known: hot, cold)`, ""},
			{"[hot, cold]", "[cold, hto]", 9, 19, "is no kind of buffers", "hot"},
			{"[64, 4KiB]", "0", 10, 10, "0B is below the least, 1B", ""},
			{"[64, 4KiB]", "[64, 2MiB]", 10, 15, "2MiB is over the limit of 1MiB", ""},
			{"[64, 4KiB]", "[4KiB, 4096B]", 10, 17, `"4KiB" is in the list twice`, ""},
			{"[64, 4KiB]", "[64, 3]", 10, 15, "3B over 4 scatter/gather elements leaves some of them empty", ""},
			{"[64, 4KiB]", "3", 10, 10, "3B over 4 scatter/gather elements", ""},
		})
	}
}

func TestPayloadFaults(t *testing.T) {
	checkFaultsOf(t, ofKind(KindPayload, payloadLines...), []faultCase{
		{"  bytes: [16, 4KiB]\n", "", 6, 1, "workload lacks: bytes", ""},
		{"[16, 4KiB]", "[16, 0]", 7, 15, "below the least, 1B", ""},
		{"batch: 8", "batch: 1025", 8, 10, "from 1 to 1024", ""},
		{"buffers: cold", "bufers: cold", 9, 3, "unknown key", "buffers"},
		{"buffers: cold", "sges: 4", 9, 3, "it belongs in the workload of kind rdma-post-recv or rdma-post-send, this scenario is of kind rdma-payload", ""},
	})
}

func TestConnectFaults(t *testing.T) {
	checkFaultsOf(t, ofKind(KindConnect, connectLines...), []faultCase{
		{"[0, 56]", "[0, 57]", 7, 21, "57B is over the limit of 56B", ""},
		{"[0, 56]", "-1", 7, 17, "negative", ""},
		{"[0, 56]", "0.5", 7, 17, "not a whole number", ""},
		{"[0, 196B]", "197", 8, 16, "197B is over the limit of 196B", ""},
		{"  connect_data: [0, 56]\n", "", 6, 1, "workload lacks: connect_data", ""},
	})
}

func TestAgingFaults(t *testing.T) {
	text := ofKind(KindAging, agingLines...)
	checkFaultsOf(t, text, []faultCase{
		{"[5, 17]", "0", 7, 10, "from 1 to 1024", ""},
		{"[1000, 20000]", "0", 8, 9, "0 is not a whole number from 1 to 10000000", ""},
		{"[1000, 20000]", "10000001", 8, 9, "from 1 to 10000000", ""},
		{"{fixed: 64}", "{fixed: 23}", 9, 24, "below the least, 24B", ""},
		{"{fixed: 64}", "{fixd: 64}", 9, 17, "unknown key", "fixed"},
		{"{fixed: 64}", "64", 9, 16, "expected keys with values", ""},
		{"  live: [1000, 20000]\n", "", 6, 1, "workload lacks: live", ""},
		{"live: [1000, 20000]\n  live_bytes: [{fixed: 64}, {uniform: {min: 24, max: 4KiB}}]", "live: 3", 6, 1, "workload lacks: live_bytes", ""},
		{"[{fixed: 64}, {uniform", "[{lognormal: {median: 64, sigma: 1}}, {uniform", 9, 16,
			"20000 allocations of up to 16MiB could take over 16GiB: give live_bytes a max", ""},
	})
	fits := strings.Replace(text, "{fixed: 64}", "{lognormal: {median: 64, sigma: 1, max: 512KiB}}", 1)
	if _, err := Parse("f.yaml", []byte(fits)); err != nil {
		t.Errorf("20000 allocations of up to 512KiB: %v", err)
	}
}

// What a whole of a scenario must not be is refused under smoke too, where the
// override stands.
func TestSmokeOfKinds(t *testing.T) {
	s := mustParse(t, ofKind(KindPostSend, postLines...)+"smoke: {workload: {batch: 5}, measure: {messages: 100}}\n")
	smoke, err := s.Smoke()
	if err != nil {
		t.Fatal(err)
	}
	want := s.Workload
	want.Batch = []int{5}
	if !reflect.DeepEqual(smoke.Workload, want) || smoke.Measure.Messages != 100 || smoke.Measure.CountingMessages != 400 {
		t.Errorf("smoke: %+v, %+v", smoke.Workload, smoke.Measure)
	}
	if e := smoke.Errorf("workload.batch", "x"); e.Line != 14 || e.Col != 27 {
		t.Errorf("the override stands at %d:%d", e.Line, e.Col)
	}
	e := mustFault(t, ofKind(KindPostSend, postLines...)+"smoke: {workload: {bytes: 2}}\n")
	if e.Line != 14 || e.Col != 27 || !strings.Contains(e.Msg, "2B over 4") {
		t.Errorf("%v", e)
	}
	e = mustFault(t, ofKind(KindAging, agingLines...)+"smoke: {workload: {live: 10000000}}\n")
	if e.Line != 9 || !strings.Contains(e.Msg, "10000000 allocations of up to 4KiB could take over 16GiB") {
		t.Errorf("%v", e)
	}
}

// Every list of a workload is an axis of some kind and multiplies the cases.
func TestEveryAxisMultiplies(t *testing.T) {
	axes := map[string]bool{}
	for _, k := range Kinds() {
		for _, axis := range Axes(k) {
			axes[strings.ReplaceAll(axis, "_", "")] = true
		}
	}
	all := reflect.TypeFor[Workload]()
	for i := range all.NumField() {
		if name := all.Field(i).Name; !axes[strings.ToLower(name)] {
			t.Errorf("%s is no axis of any kind", name)
		}
		var w Workload
		v := reflect.ValueOf(&w).Elem().Field(i)
		v.Set(reflect.MakeSlice(v.Type(), 7, 7))
		if n := w.points(); n != 7 {
			t.Errorf("seven values of %s make %d points", all.Field(i).Name, n)
		}
	}
	if len(axes) != all.NumField() {
		t.Errorf("%d axes, %d fields of Workload", len(axes), all.NumField())
	}
	var list []string
	for i := range 80 {
		list = append(list, fmt.Sprint(i+1))
	}
	many := "[" + strings.Join(list, ", ") + "]"
	e := mustFault(t, ofKind(KindPayload, "bytes: "+many, "batch: "+many))
	if e.Line != 6 || !strings.Contains(e.Msg, "more than 10000 cases") {
		t.Errorf("%v", e)
	}
}

// What the parser accepts of each kind the schema must accept, and the other
// way round.
func TestSchemaAgreesWithTheParserOnKinds(t *testing.T) {
	s := compileSchema(t)
	for _, kind := range Kinds() {
		for key := range needed[kind] {
			checkBoth(t, s, minimal(kind, "workload."+key, ""), false)
		}
		checkBoth(t, s, minimal(kind, "kind", kind), true)
		checkBoth(t, s, minimal(kind, "kind", ""), false)
		checkBoth(t, s, minimal(kind, "kind", "other"), false)
		checkBoth(t, s, minimal(kind, "smoke.measure", "{blocks: 1}"), true)
		checkBoth(t, s, minimal(kind, "smoke.claims", "[]"), false)
		checkBoth(t, s, minimal(kind, "measure.foo", "1"), false)
		checkBoth(t, s, minimal(kind, "workload.foo", "1"), false)
	}
	for _, c := range []struct {
		kind, path, value string
		ok                bool
	}{
		{KindPostRecv, "workload.batch", "[1, 1024]", true}, {KindPostRecv, "workload.batch", "1025", false},
		{KindPostRecv, "workload.batch", "0", false}, {KindPostSend, "workload.batch", "[]", false},
		{KindPostSend, "workload.sges", "[1, 16]", true}, {KindPostSend, "workload.sges", "17", false},
		{KindPostSend, "workload.buffers", "[hot, cold]", true}, {KindPostSend, "workload.buffers", "lukewarm", false},
		{KindPostSend, "workload.bytes", "[1, 1KiB, 1048576]", true}, {KindPostSend, "workload.bytes", "1048577", false},
		{KindPostSend, "workload.bytes", "0", false}, {KindPostSend, "workload.bytes", `"64"`, false},
		{KindPayload, "workload.bytes", "[16, 4KiB]", true}, {KindPayload, "workload.bytes", "0", false},
		{KindPayload, "workload.batch", "1024", true}, {KindPayload, "workload.batch", "0", false},
		{KindConnect, "workload.connect_data", "[0, 56, 16B]", true}, {KindConnect, "workload.connect_data", "57", false},
		{KindConnect, "workload.accept_data", "196", true}, {KindConnect, "workload.accept_data", "197", false},
		{KindAging, "workload.live", "[1, 10000]", true}, {KindAging, "workload.live", "0", false},
		{KindAging, "workload.live", "10000001", false}, {KindAging, "workload.live_bytes", "[{fixed: 24}, {fixed: 65}]", true},
		{KindAging, "workload.live_bytes", "{fixed: 23}", false}, {KindAging, "workload.live_bytes", "{}", false},
		{KindAging, "workload.live_bytes", "{lognormal: {median: 1KiB, sigma: 1}}", true},
		{KindAging, "smoke.workload", "{live: 10}", true}, {KindAging, "smoke.workload", "{live: ten}", false},
		{KindReceive, "workload.budget", "23", false}, {KindReceive, "workload.budget", "1073741824", true},
		{KindReceive, "workload.budget", "1073741825", false},
	} {
		checkBoth(t, s, minimal(c.kind, c.path, c.value), c.ok)
	}
}

func TestFaultsOfKindsAreErrors(t *testing.T) {
	var e *Error
	for _, text := range []string{"kind: rdma-payload\n", "kind: alloc-aging\nworkload:\n", "workload: {live: 1}\n", "kind: [a\n"} {
		if _, err := Parse("f.yaml", []byte(text)); !errors.As(err, &e) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
