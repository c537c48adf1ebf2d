package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxList bounds a list.
const maxList = 100

// listOf reads a list that is not empty and names nothing twice; label tells
// its values apart, nil allows them to repeat.
func listOf[T any](c codec[T], label func(T) string) codec[[]T] {
	s := schema{"type": "array", "items": c.schema, "minItems": 1, "maxItems": maxList}
	return codec[[]T]{s, func(d *decoder, path string, n ast.Node) ([]T, bool) {
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			d.failNode(n, "%s: expected a list, found %s", path, describe(n))
			return nil, false
		}
		if len(seq.Values) == 0 {
			d.failNode(n, "%s: the list is empty", path)
			return nil, false
		}
		if len(seq.Values) > maxList {
			d.fail(index(path, maxList), "%s: more than %d values", path, maxList)
			return nil, false
		}
		var all []T
		seen, good := map[string]int{}, true
		for i, item := range seq.Values {
			v, ok := c.decode(d, index(path, i), item)
			if !ok {
				good = false
				continue
			}
			all = append(all, v)
			if label == nil {
				continue
			}
			if first, dup := seen[label(v)]; dup {
				d.fail(index(path, i), "%s: %s is in the list twice, first at %s", path, quote(label(v)), index(path, first))
				good = false
			}
			seen[label(v)] = i
		}
		return all, good
	}}
}

// oneOrMany reads one value or a list of them.
func oneOrMany[T any](c codec[T], label func(T) string) codec[[]T] {
	list := listOf(c, label)
	return codec[[]T]{schema{"anyOf": []schema{c.schema, list.schema}}, func(d *decoder, path string, n ast.Node) ([]T, bool) {
		if _, many := n.(*ast.SequenceNode); many {
			return list.decode(d, path, n)
		}
		v, ok := c.decode(d, path, n)
		return []T{v}, ok
	}}
}

func itself(s string) string { return s }

// mapOf reads a mapping whose keys are names that rule allows.
func mapOf[T any](c codec[T]) codec[map[string]T] {
	s := schema{"type": "object", "propertyNames": schema{"pattern": paramRule.String()}, "additionalProperties": c.schema}
	return codec[map[string]T]{s, func(d *decoder, path string, n ast.Node) (map[string]T, bool) {
		before := len(d.faults)
		m, ok := d.mapping(path, n)
		if !ok {
			return nil, false
		}
		all := map[string]T{}
		for _, kv := range m.Values {
			k := keyText(kv.Key)
			if _, dup := all[k]; dup {
				d.failNode(kv.Key, "the key %s is given twice", quote(k))
				continue
			}
			if !paramRule.MatchString(k) {
				d.failNode(kv.Key, "%s: %s is not a valid param name", path, quote(k))
				continue
			}
			all[k], _ = c.decode(d, join(path, k), kv.Value)
		}
		return all, len(d.faults) == before
	}}
}

// object reads a mapping into a T by the keys of its table.
func object[T any](keys func(*T) table) codec[T] {
	return codec[T]{objectSchema(keys(new(T)), false), func(d *decoder, path string, n ast.Node) (T, bool) {
		v := new(T)
		_, ok := keys(v).decode(d, path, n, false)
		return *v, ok
	}}
}

// choice reads a mapping that holds exactly one key of its table; picked is
// told which.
func choice[T any](keys func(*T) table, picked func(v *T, key string)) codec[T] {
	s := objectSchema(keys(new(T)), false)
	s["minProperties"], s["maxProperties"] = 1, 1
	return codec[T]{s, func(d *decoder, path string, n ast.Node) (T, bool) {
		v := new(T)
		t := keys(v)
		given, ok := t.decode(d, path, n, true)
		if !ok {
			return *v, false
		}
		if len(given) != 1 {
			d.fail(path, "%s: expected exactly one of %s, found %d of them", path, strings.Join(t.names(), ", "), len(given))
			return *v, false
		}
		for k := range given {
			picked(v, k)
		}
		return *v, true
	}}
}

// checked adds a check that runs after c read a value without faults. It
// returns the key below path at fault, or "", and what is wrong.
func checked[T any](c codec[T], check func(v T) (at string, err error)) codec[T] {
	return codec[T]{c.schema, func(d *decoder, path string, n ast.Node) (T, bool) {
		v, ok := c.decode(d, path, n)
		if !ok {
			return v, false
		}
		at, err := check(v)
		if err != nil {
			d.failBelow(path, at, err)
		}
		return v, err == nil
	}}
}

// objectSchema is the schema of a mapping with exactly the keys of t.
func objectSchema(t table, partial bool) schema {
	props, required := schema{}, []string{}
	for _, k := range t {
		p := schema{"description": k.doc}
		for name, v := range k.schema {
			p[name] = v
		}
		props[k.name] = p
		if k.required && !partial {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "additionalProperties": false, "properties": props}
	if len(required) > 0 {
		slices.Sort(required)
		s["required"] = required
	}
	return s
}

// ref points to a definition of the schema file.
func ref(name string) schema { return schema{"$ref": fmt.Sprintf("#/$defs/%s", name)} }
