package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// source knows where in the file each path of a scenario stands.
type source struct {
	file  string
	lines []string
	marks map[string]mark
	// overlay: paths under workload and measure are looked up under smoke first.
	overlay bool
	smoke   *Scenario // with the overrides applied; nil without a smoke key
}

// mark holds the positions of a key and of its value. A list item has no key
// of its own: both are the item's.
type mark struct{ key, value pos }

func newSource(file string, lines []string, body ast.Node) *source {
	s := &source{file: file, lines: lines, marks: map[string]mark{}}
	at := nodePos(body)
	s.walk("", body, mark{at, at})
	return s
}

// walk records the positions of n and what is below it. The first of two equal
// paths counts.
func (s *source) walk(path string, n ast.Node, m mark) {
	if _, dup := s.marks[path]; dup && path != "" {
		return
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		s.marks[path] = mark{m.key, m.key}
		for _, kv := range n.Values {
			s.walk(join(path, keyText(kv.Key)), kv.Value, mark{nodePos(kv.Key), nodePos(kv.Value)})
		}
	case *ast.SequenceNode:
		s.marks[path] = mark{m.key, m.key}
		for i, v := range n.Values {
			at := nodePos(v)
			s.walk(index(path, i), v, mark{at, at})
		}
	default:
		s.marks[path] = m
	}
}

// nodePos is where n begins: a block mapping at its first key.
func nodePos(n ast.Node) pos {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return nodePos(m.Values[0].Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return pos{1, 1}
	}
	p := n.GetToken().Position
	return pos{p.Line, p.Column}
}

// keyText is a key as written, without quotes.
func keyText(k ast.MapKeyNode) string { return k.GetToken().Value }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// parent is path without its last key or index.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// find returns the mark of path or of its nearest existing parent.
func (s *source) find(path string) mark {
	prefix := ""
	if s.overlay {
		prefix = s.overlaid(path)
	}
	for p := path; p != ""; p = parent(p) {
		if m, ok := s.marks[prefix+p]; ok {
			return m
		}
	}
	return s.marks[""]
}

// overlaid returns "smoke." when the smoke overrides replace the value path
// is part of. An override replaces a whole axis.
func (s *source) overlaid(path string) string {
	part, rest, _ := strings.Cut(path, ".")
	if part != "workload" && part != "measure" || rest == "" {
		return ""
	}
	axis := part + "." + rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz_"))]
	if _, ok := s.marks["smoke."+axis]; ok {
		return "smoke."
	}
	return ""
}

// Errorf makes an error that stands at the value of path, such as
// strategies[1].params.chunk or claims[0].metric, or at its nearest existing
// parent. A mapping or list stands at its key.
func (s *Scenario) Errorf(path, format string, args ...any) *Error {
	return s.errorAt(path, false, fmt.Sprintf(format, args...))
}

// KeyErrorf is Errorf, standing at the key of path instead of its value.
func (s *Scenario) KeyErrorf(path, format string, args ...any) *Error {
	return s.errorAt(path, true, fmt.Sprintf(format, args...))
}

func (s *Scenario) errorAt(path string, key bool, msg string) *Error {
	if s.source == nil { // made in code, not parsed
		return newError(s.File, nil, pos{1, 1}, msg)
	}
	m := s.source.find(path)
	at := m.value
	if key {
		at = m.key
	}
	return newError(s.source.file, s.source.lines, at, msg)
}
