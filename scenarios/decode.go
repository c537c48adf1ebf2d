package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decoder collects the faults of one scenario file. Everything below decodes
// as far as it can, so that a user sees all faults at once.
type decoder struct {
	scenario *Scenario
	kind     kind
	read     reader
	faults   []fault
	beside   [][]byte // the files read so far
}

// reader reads a file that a scenario names; file is its path for messages.
type reader func(name string) (file string, text []byte, err error)

// fault is an error and the position in the scenario file it sorts by.
type fault struct {
	at  pos
	err *Error
}

// fail records a fault at the value of path.
func (d *decoder) fail(path, format string, args ...any) *Error {
	return d.record(d.scenario.Errorf(path, format, args...))
}

// failKey records a fault at the key of path.
func (d *decoder) failKey(path, format string, args ...any) *Error {
	return d.record(d.scenario.KeyErrorf(path, format, args...))
}

// failNode records a fault at a node that its path may not lead to.
func (d *decoder) failNode(n ast.Node, format string, args ...any) *Error {
	s := d.scenario.source
	return d.record(newError(s.file, s.lines, nodePos(n), fmt.Sprintf(format, args...)))
}

// failValue records err, as a value parser gave it, at the value of path.
func (d *decoder) failValue(path string, err error) {
	if b, ok := err.(*badValue); ok {
		d.fail(path, "%s: %s", path, b.msg).Suggest = b.suggest
		return
	}
	d.fail(path, "%s: %s", path, err)
}

// failBelow records err at the key at below path, or at path when at is empty.
func (d *decoder) failBelow(path, at string, err error) {
	if at != "" {
		path = join(path, at)
	}
	d.failValue(path, err)
}

func (d *decoder) record(e *Error) *Error {
	d.faults = append(d.faults, fault{pos{e.Line, e.Col}, e})
	return e
}

// error returns the faults as one error, the first by position in front.
func (d *decoder) error() error {
	if len(d.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(d.faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.col, b.at.col))
	})
	first := d.faults[0].err
	for _, f := range d.faults[1:] {
		first.More = append(first.More, f.err)
	}
	return first
}

// key is one key of a mapping: how it reads, and how the JSON schema shows it.
type key struct {
	name     string
	doc      string
	required bool
	schema   schema
	set      func(d *decoder, path string, n ast.Node)
}

// table lists the keys of a mapping.
type table []key

// codec reads a value of type T, recording faults; ok is false if there were
// any. Its schema describes what it reads.
type codec[T any] struct {
	schema schema
	decode func(d *decoder, path string, n ast.Node) (v T, ok bool)
}

// field binds a key to the place its value goes to. A doc that begins with
// "Required. " makes the key required.
func field[T any](name string, dst *T, c codec[T], doc string) key {
	doc, required := strings.CutPrefix(doc, "Required. ")
	return key{name, doc, required, c.schema, func(d *decoder, path string, n ast.Node) {
		if v, ok := c.decode(d, path, n); ok {
			*dst = v
		}
	}}
}

func (t table) names() []string {
	var names []string
	for _, k := range t {
		names = append(names, k.name)
	}
	return names
}

func (t table) find(name string) (key, bool) {
	i := slices.IndexFunc(t, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return t[i], true
}

// decode reads the mapping n and returns the keys it holds; partial leaves out
// the check for required ones.
func (t table) decode(d *decoder, path string, n ast.Node, partial bool) (given map[string]bool, ok bool) {
	before := len(d.faults)
	m, isMap := d.mapping(path, n)
	if !isMap {
		return nil, false
	}
	given = map[string]bool{}
	lines := map[string]int{}
	for _, kv := range m.Values {
		name := keyText(kv.Key)
		if first, dup := lines[name]; dup {
			d.failNode(kv.Key, "the key %s is given twice, first on line %d", quote(name), first)
			continue
		}
		lines[name] = nodePos(kv.Key).line
		if k, known := t.find(name); known {
			given[name] = true
			k.set(d, join(path, name), kv.Value)
			continue
		}
		guess, hint := d.hint(t, path, name)
		given[guess] = true // one mistake, not also a missing key
		d.failNode(kv.Key, "unknown key %s in %s%s", quote(name), where(path), hint).Suggest = guess
	}
	if partial {
		return given, len(d.faults) == before
	}
	var missing []string
	for _, k := range t {
		if k.required && !given[k.name] {
			missing = append(missing, k.name)
		}
	}
	if len(missing) > 0 {
		d.fail(path, "%s lacks: %s", where(path), strings.Join(missing, ", "))
	}
	return given, len(d.faults) == before
}

// hint guesses what an unknown key of the mapping at path was meant to be: one
// that belongs elsewhere or to another kind, or the nearest of the keys there
// are, which it lists.
func (d *decoder) hint(t table, path, name string) (guess, hint string) {
	if home := d.kind.home(name); home != "" {
		return "", "; it belongs in " + home
	}
	if path == "" || path == "workload" || path == "smoke.workload" {
		if of := kindsWith(name); of != "" {
			return "", fmt.Sprintf("; it belongs in the workload of kind %s, this scenario is of kind %s", of, d.kind.name)
		}
	}
	if guess := Nearest(name, t.names()); guess != "" {
		return guess, ""
	}
	return "", " (known: " + strings.Join(t.names(), ", ") + ")"
}

// where names a path in a message.
func where(path string) string {
	if path == "" {
		return "the scenario"
	}
	return path
}

func (d *decoder) mapping(path string, n ast.Node) (*ast.MappingNode, bool) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.failNode(n, "%s: expected keys with values, found %s", where(path), describe(n))
	}
	return m, ok
}

// describe names what a node is, for messages.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		if n.GetToken().Type == token.ImplicitNullType {
			return "nothing"
		}
	}
	if text, _, ok := scalarText(n); ok {
		return quote(text)
	}
	return "something else"
}

// scalarText returns the text of a scalar as written: YAML's own ideas of
// null, true, nan and octal do not apply. An empty plain value is no scalar.
func scalarText(n ast.Node) (text string, quoted, ok bool) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		return n.Value.Value, true, true
	case ast.ScalarNode:
		tk := n.GetToken()
		if tk.Type == token.ImplicitNullType {
			return "", false, false
		}
		return tk.Value, tk.Type == token.DoubleQuoteType || tk.Type == token.SingleQuoteType, true
	}
	return "", false, false
}
