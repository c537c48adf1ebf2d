package record

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite protocol.schema.json")

// protocolFile describes what a trial's child is told and what it answers, for
// those who write one in another language.
const protocolFile = "protocol.schema.json"

// docs holds what the source says of types and their members, and the constants
// that a type of text may be.
type docs struct {
	of    map[string]string // by Type or Type.Member
	texts map[string][]string
}

func readDocs(t *testing.T) docs {
	t.Helper()
	d := docs{map[string]string{}, map[string][]string{}}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && !strings.HasSuffix(file, "_test.go") {
				d.add(g)
			}
		}
	}
	return d
}

func (d docs) add(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			d.of[s.Name.Name] = plain(g.Doc)
			if st, ok := s.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						d.of[s.Name.Name+"."+name.Name] = strings.TrimSpace(plain(f.Doc) + " " + plain(f.Comment))
					}
				}
			}
		case *ast.ValueSpec:
			typ, ok := s.Type.(*ast.Ident)
			if !ok || len(s.Values) != 1 {
				continue
			}
			if lit, ok := s.Values[0].(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					d.texts[typ.Name] = append(d.texts[typ.Name], text)
				}
			}
		}
	}
}

// plain is a comment on one line.
func plain(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	var p comment.Parser
	var pr comment.Printer
	return strings.Join(strings.Fields(string(pr.Text(p.Parse(c.Text())))), " ")
}

type schema map[string]any

// generateProtocol derives the JSON Schema of a Trial and a Record from the types.
func generateProtocol(t *testing.T) []byte {
	t.Helper()
	g := generator{docs: readDocs(t), defs: schema{}}
	root := schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     "https://github.com/zcbench/zcbench/harness/record/protocol.schema.json",
		"title":   "zcbench trial protocol",
		"description": "What a trial's child reads as one JSON line on standard input, a Trial, and what it answers as one JSON line on file descriptor 3, a Record. " +
			"A Trial may hold more members than these: pass them over. A Record may not.",
		"anyOf": []schema{g.schemaOf(reflect.TypeFor[Trial]()), g.schemaOf(reflect.TypeFor[Record]())},
		"$defs": g.defs,
	}
	for _, name := range []string{"Record", "Value", "Fingerprint", "Window", "Series"} {
		g.defs[name].(schema)["additionalProperties"] = false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type generator struct {
	docs docs
	defs schema
}

func (g generator) schemaOf(t reflect.Type) schema {
	switch t.Kind() {
	case reflect.Pointer:
		return g.schemaOf(t.Elem())
	case reflect.Struct:
		g.define(t)
		return schema{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return schema{"type": "array", "items": g.schemaOf(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": g.schemaOf(t.Elem())}
	case reflect.String:
		if texts := g.docs.texts[t.Name()]; len(texts) > 0 {
			return schema{"enum": texts}
		}
		return schema{"type": "string"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	}
	panic("no schema for " + t.String())
}

func (g generator) define(t reflect.Type) {
	if _, known := g.defs[t.Name()]; known {
		return
	}
	props, required := schema{}, []string{}
	s := schema{"type": "object", "description": g.docs.of[t.Name()], "properties": props}
	g.defs[t.Name()] = s
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := g.schemaOf(f.Type)
		if strings.Contains(options, "string") {
			p = schema{"type": "string", "pattern": "^[0-9]+$"}
		}
		if doc := g.docs.of[t.Name()+"."+f.Name]; doc != "" {
			p["description"] = doc
		}
		props[name] = p
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	switch t {
	case reflect.TypeFor[Value](): // a count or a number
		s["oneOf"] = []schema{{"required": []string{"den"}}, {"required": []string{"v"}}}
	case reflect.TypeFor[Record](): // the rest may be left out and is then zero
		required = []string{"schema", "trial", "status"}
	case reflect.TypeFor[Window]():
		required = nil
	}
	if len(required) > 0 {
		s["required"] = required
	}
}

func TestProtocolSchemaIsCurrent(t *testing.T) {
	want := generateProtocol(t)
	if *update {
		if err := os.WriteFile(protocolFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(protocolFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types give (%v): run go test ./harness/record -update", protocolFile, err)
	}
}

// compiled is the schema of one of the two messages.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open(protocolFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("protocol.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("protocol.json#/$defs/" + name)
}

func valid(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// filled sets every member of a value to something that is not zero.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		filled(e)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k"), e)
	case reflect.String:
		switch v.Type() {
		case reflect.TypeFor[Purpose]():
			v.SetString(string(Timing))
		case reflect.TypeFor[Status]():
			v.SetString(string(OK))
		default:
			v.SetString("x")
		}
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Uint64:
		v.SetUint(1 << 63)
	default:
		v.SetInt(1)
	}
}

// What zcbench writes is what the schema says, members all there or none.
func TestProtocolSchemaFitsTheTypes(t *testing.T) {
	var full Trial
	filled(reflect.ValueOf(&full).Elem())
	var rec Record
	filled(reflect.ValueOf(&rec).Elem())
	rec.Metrics = map[string]Value{"a": Count(1, 2), "b": Level(0.5)}
	for name, values := range map[string][]any{"Trial": {full, Trial{Purpose: Verify}}, "Record": {rec, Record{Status: Skipped}}} {
		s := compiled(t, name)
		for _, v := range values {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := valid(t, s, text); err != nil {
				t.Errorf("%s\n%v", text, err)
			}
		}
	}
}

func TestProtocolSchemaRefuses(t *testing.T) {
	s := compiled(t, "Record")
	good := `{"schema":1,"trial":"t","status":"ok","fingerprint":{"ops":1,"bytes":2,"sum":"3"},"window":{"ns":4},"metrics":{"m":{"v":1},"n":{"num":0,"den":2}}}`
	if err := valid(t, s, []byte(good)); err != nil {
		t.Fatal(err)
	}
	for old, bad := range map[string]string{
		`"status":"ok"`: `"status":"fine"`, `"sum":"3"`: `"sum":3`, `"v":1`: `"v":"1"`, `"num":0,"den":2`: `"num":0`, `{"v":1}`: `{"v":1,"den":2}`,
		`"trial":"t",`: ``, `"metrics"`: `"metric"`, `"ns":4`: `"ms":4`, `"ops":1,`: ``,
	} {
		if err := valid(t, s, []byte(strings.Replace(good, old, bad, 1))); err == nil {
			t.Errorf("%s instead of %s is taken", bad, old)
		}
	}
}
