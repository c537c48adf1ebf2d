package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
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

// walkSchema calls visit for every property below node; wrap puts text where
// the property's mapping stands.
func walkSchema(node map[string]any, wrap func(string) string, visit func(name string, prop map[string]any, wrap func(string) string)) {
	props, _ := node["properties"].(map[string]any)
	for name, p := range props {
		prop := p.(map[string]any)
		visit(name, prop, wrap)
		walkSchema(prop, func(in string) string { return wrap("{" + name + ": " + in + "}") }, visit)
	}
	if items, ok := node["items"].(map[string]any); ok {
		walkSchema(items, func(in string) string { return wrap("[" + in + "]") }, visit)
	}
	if branches, ok := node["anyOf"].([]any); ok {
		for _, one := range branches {
			walkSchema(one.(map[string]any), wrap, visit)
		}
	}
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
	seen := 0
	walkSchema(root, func(in string) string { return in }, func(name string, prop map[string]any, wrap func(string) string) {
		seen++
		if doc, _ := prop["description"].(string); len(doc) < 10 {
			t.Errorf("%s has the description %q", wrap(name), doc)
		}
		if got := unknownKeys(t, wrap("{"+name+": [[[]]], zz: 1}")); got != `"zz"` {
			t.Errorf("%s: unknown keys %s, want only zz", wrap("{"+name+"}"), got)
		}
	})
	if seen < 60 {
		t.Errorf("only %d keys found in the schema: the walk is broken", seen)
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
		text := withValue(c.path, c.value)
		_, err := Parse("f.yaml", []byte(text))
		if (err == nil) != c.ok {
			t.Errorf("%s: %s: the parser says %v, want ok=%v", c.path, c.value, err, c.ok)
		}
		if err := s.Validate(asJSON(t, text)); (err == nil) != c.ok {
			t.Errorf("%s: %s: the schema says %v, want ok=%v", c.path, c.value, err, c.ok)
		}
	}
}

// withValue is a minimal scenario with the value at path, two levels at most.
func withValue(path, value string) string {
	top := map[string]string{
		"workload.clients": "2", "workload.sizes": "{fixed: 64}", "workload.budget": "64KiB", "workload.load": "{closed: 1}",
		"metrics": "[cpu_per_msg]", "strategies": "[{name: heap}, {name: a}, {name: null}]",
	}
	top[path] = value
	if path == "strategies" {
		top[path] = strings.TrimSuffix(value, "]") + ", {name: heap}]"
	}
	var flat, workload, measure strings.Builder
	for k, v := range top {
		group, name, nested := strings.Cut(k, ".")
		switch {
		case !nested:
			fmt.Fprintf(&flat, "%s: %s\n", k, v)
		case group == "workload":
			fmt.Fprintf(&workload, "  %s: %s\n", name, v)
		default:
			fmt.Fprintf(&measure, "  %s: %s\n", name, v)
		}
	}
	if measure.Len() > 0 {
		flat.WriteString("measure:\n" + measure.String())
	}
	return "schema: zcbench/v1\nname: x\ntitle: t\nquestion: q\nkind: receive\nbaseline: {name: heap}\nworkload:\n" + workload.String() + flat.String()
}
