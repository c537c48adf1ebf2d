package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite schema.json and the golden files")

func TestSchemaFileIsCurrent(t *testing.T) {
	want, err := generateSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return // the embedded copy is the old one
	}
	if !bytes.Equal(Schema(), want) {
		t.Error("schema.json is not what the parser's tables give: run go test ./scenarios -update")
	}
}

// schemaWalk visits every property of a schema. The text its wrap makes puts
// what it is given where the property's mapping stands.
type schemaWalk struct {
	defs  map[string]any
	visit func(name string, prop map[string]any, wrap func(string) string)
	kinds []string // of the branches seen
}

func (s *schemaWalk) walk(node map[string]any, wrap func(string) string) {
	if ref, ok := node["$ref"].(string); ok {
		s.walk(s.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), wrap)
	}
	props, _ := node["properties"].(map[string]any)
	for name, p := range props {
		prop := p.(map[string]any)
		s.visit(name, prop, wrap)
		s.walk(prop, func(in string) string { return wrap("{" + name + ": " + in + "}") })
	}
	if items, ok := node["items"].(map[string]any); ok {
		s.walk(items, func(in string) string { return wrap("[" + in + "]") })
	}
	if branches, ok := node["anyOf"].([]any); ok {
		for _, one := range branches {
			s.walk(one.(map[string]any), wrap)
		}
	}
	if branches, ok := node["allOf"].([]any); ok {
		for _, one := range branches {
			s.branch(one.(map[string]any), wrap)
		}
	}
}

// branch walks what the schema says of one kind, in scenarios of that kind.
func (s *schemaWalk) branch(node map[string]any, wrap func(string) string) {
	kind := node["if"].(map[string]any)["properties"].(map[string]any)["kind"].(map[string]any)["const"].(string)
	s.kinds = append(s.kinds, kind)
	s.walk(node["then"].(map[string]any), func(in string) string {
		return wrap("{kind: " + kind + ", " + strings.TrimPrefix(in, "{"))
	})
}

func unknownKeys(t *testing.T, text string) string {
	t.Helper()
	_, err := Parse("f.yaml", []byte(text))
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: no *Error but %v", text, err)
	}
	var all []string
	for _, f := range append([]*Error{e}, e.More...) {
		if strings.HasPrefix(f.Msg, "unknown key") {
			all = append(all, strings.Fields(f.Msg)[2])
		}
	}
	return strings.Join(all, " ")
}

// The schema is generated from the parser's tables; this asks the parser itself.
func TestSchemaKeysAreTheParsersKeys(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	w := schemaWalk{defs: root["$defs"].(map[string]any)}
	w.visit = func(name string, prop map[string]any, wrap func(string) string) {
		text := wrap("{" + name + ": [[[]]], zz: 1}")
		seen[text] = true
		if doc, _ := prop["description"].(string); len(doc) < 10 {
			t.Errorf("%s has the description %q", wrap(name), doc)
		}
		if got := unknownKeys(t, text); got != `"zz"` {
			t.Errorf("%s: unknown keys %s, want only zz", text, got)
		}
	}
	w.walk(root, func(in string) string { return in })
	if !slices.Equal(w.kinds, Kinds()) {
		t.Errorf("the schema has branches for the kinds %v, the parser has %v", w.kinds, Kinds())
	}
	for _, k := range Kinds() {
		for _, axis := range Axes(k) {
			for _, text := range []string{"{kind: " + k + ", workload: {" + axis + ": ", "{kind: " + k + ", smoke: {workload: {" + axis + ": "} {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(s string) bool { return strings.HasPrefix(s, text) }) {
					t.Errorf("the schema lacks %s", text)
				}
			}
		}
	}
	if len(seen) < 250 {
		t.Errorf("only %d keys found in the schema: the walk is broken", len(seen))
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON reads YAML as an editor would.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestScenariosMatchTheSchema(t *testing.T) {
	s := compileSchema(t)
	for _, name := range Embedded() {
		sc, err := Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := s.Validate(asJSON(t, sc.Text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the parser accepts the schema must accept, and the other way round.
func TestSchemaAgreesWithTheParser(t *testing.T) {
	s := compileSchema(t)
	for _, c := range []struct {
		path, value string
		ok          bool
	}{
		{"workload.clients", "[1, 2]", true}, {"workload.clients", "0", false}, {"workload.clients", "1.5", false},
		{"workload.clients", "[]", false}, {"workload.clients", `"4"`, false}, {"workload.budget", "1.5MiB", true},
		{"workload.budget", "64 KiB", true}, {"workload.budget", "4KX", false}, {"workload.budget", "-4KiB", false},
		{"workload.hold", "2ms", true}, {"workload.hold", "3", true}, {"workload.hold", "2m", false},
		{"workload.load", "{open: 50%}", true}, {"workload.load", "{open: .5}", true}, {"workload.load", "{open: 2/s}", true},
		{"workload.load", "{open: 1/s, closed: 2}", false}, {"workload.load", "{}", false}, {"workload.load", "[{closed: 4}]", true},
		{"workload.sizes", "{cdf: {points: [[1, .5], [30, 1]]}}", true}, {"workload.sizes", "{cdf: {points: [[1]]}}", false},
		{"workload.sizes", "{fixed: 1500}", true}, {"workload.sizes", "fixed", false}, {"workload.assembly", "vectored", true},
		{"workload.assembly", "scattered", false}, {"metrics", "[a_b]", true}, {"metrics", "[A]", false}, {"metrics", "a", false},
		{"measure.alpha", "5%", true}, {"measure.timeout", "30", false}, {"measure.timeout", "30s", true},
		{"strategies", "[{name: null}]", true}, {"strategies", "[{name: a, params: {x: [1, nan, true]}}]", true},
	} {
		checkBoth(t, s, withValue(c.path, c.value), c.ok)
	}
}

// checkBoth asks the parser and the schema whether a scenario is good.
func checkBoth(t *testing.T, s *jsonschema.Schema, text string, ok bool) {
	t.Helper()
	if _, err := Parse("f.yaml", []byte(text)); (err == nil) != ok {
		t.Errorf("the parser says %v, want ok=%v of\n%s", err, ok, text)
	}
	if err := s.Validate(asJSON(t, text)); (err == nil) != ok {
		t.Errorf("the schema says %v, want ok=%v of\n%s", err, ok, text)
	}
}

// withValue is a minimal scenario of kind receive with the value at path, two
// levels at most.
func withValue(path, value string) string { return minimal(KindReceive, path, value) }

// needed are the values of the keys each kind requires of its workload.
var needed = map[string]map[string]string{
	KindReceive:  {"clients": "2", "sizes": "{fixed: 64}", "budget": "64KiB", "load": "{closed: 1}"},
	KindPostRecv: {"batch": "5"},
	KindPostSend: {"batch": "5"},
	KindPayload:  {"bytes": "512"},
	KindConnect:  {"connect_data": "56"},
	KindAging:    {"batch": "5", "live": "1000", "live_bytes": "{fixed: 64}"},
}

// minimal is a scenario of a kind with the keys it requires and the value at
// path, two levels at most. An empty value leaves the key out.
func minimal(kind, path, value string) string {
	top := map[string]string{"kind": kind, "metrics": "[cpu_per_msg]", "strategies": "[{name: heap}, {name: a}, {name: null}]"}
	for k, v := range needed[kind] {
		top["workload."+k] = v
	}
	top[path] = value
	if path == "strategies" {
		top[path] = strings.TrimSuffix(value, "]") + ", {name: heap}]"
	}
	var flat strings.Builder
	nested := map[string]string{}
	for k, v := range top {
		group, name, deep := strings.Cut(k, ".")
		switch {
		case v == "":
		case deep:
			nested[group] += "  " + name + ": " + v + "\n"
		default:
			flat.WriteString(k + ": " + v + "\n")
		}
	}
	for group, text := range nested {
		flat.WriteString(group + ":\n" + text)
	}
	return "schema: zcbench/v1\nname: x\ntitle: t\nquestion: q\nbaseline: {name: heap}\n" + flat.String()
}
