package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a scenario's structure. The YAML parser recurses once per level
// and once per key of a mapping, so these bound its stack.
const (
	maxDepth = 24
	maxKeys  = 5000
	maxItems = 100_000
)

// refused are the parts of YAML a scenario does without: one value would
// depend on another place of the file, or read differently elsewhere.
var refused = map[token.Type]string{
	token.AnchorType:      "anchors are not allowed: write the value out",
	token.AliasType:       "aliases are not allowed: write the value out",
	token.MergeKeyType:    "merge keys are not allowed: write the keys out",
	token.TagType:         "tags are not allowed: the key decides the type",
	token.DirectiveType:   "directives are not allowed",
	token.MappingKeyType:  "complex keys are not allowed: write key: value",
	token.DocumentEndType: "a document end: a file holds one document, remove this line",
}

// parseTree reads text as one YAML document.
func parseTree(file, text string, lines []string) (body ast.Node, fault *Error) {
	// The parser works on outside input; whatever it trips over is a fault of the file.
	defer func() {
		if r := recover(); r != nil {
			body, fault = nil, newError(file, lines, pos{1, 1}, fmt.Sprintf("not readable as YAML (%v)", r))
		}
	}()
	tokens := lexer.Tokenize(text)
	if at, msg := checkTokens(tokens); msg != "" {
		return nil, newError(file, lines, at, msg)
	}
	// Duplicate keys are found later, where their path is known.
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, msg := syntaxFault(err)
		return nil, newError(file, lines, at, msg)
	}
	for _, doc := range f.Docs {
		if doc.Body != nil && body == nil {
			body = doc.Body
		}
	}
	if body == nil {
		return nil, newError(file, lines, pos{1, 1}, "the file holds no keys")
	}
	return body, nil
}

func syntaxFault(err error) (pos, string) {
	at, msg := pos{1, 1}, err.Error()
	var syn yaml.Error
	if errors.As(err, &syn) {
		msg = syn.GetMessage()
		if tk := syn.GetToken(); tk != nil && tk.Position != nil {
			at = pos{tk.Position.Line, tk.Position.Column}
		}
	}
	return at, "not valid YAML: " + strings.TrimSpace(msg)
}

// checkTokens refuses what scenarios do without and bounds the structure. The
// message is empty when there is nothing to refuse.
func checkTokens(tokens token.Tokens) (pos, string) {
	var d depthMeter
	keys, begun := 0, false
	for i, tk := range tokens {
		at := pos{tk.Position.Line, tk.Position.Column}
		if msg := refused[tk.Type]; msg != "" {
			return at, msg
		}
		switch tk.Type {
		case token.InvalidType:
			return at, "not valid YAML: " + tk.Error
		case token.DocumentHeaderType:
			if begun {
				return at, "a second document: a file holds one scenario"
			}
		case token.MappingValueType:
			keys++
		}
		begun = begun || tk.Type != token.CommentType
		switch {
		case d.add(tk) > maxDepth:
			return at, fmt.Sprintf("nested deeper than %d levels", maxDepth)
		case keys > maxKeys:
			return at, fmt.Sprintf("more than %d keys", maxKeys)
		case i > maxItems:
			return at, fmt.Sprintf("more than %d items", maxItems)
		}
	}
	return pos{}, ""
}

// depthMeter bounds from above how deep the parser will recurse.
type depthMeter struct {
	flow    int
	columns []int // of the open block collections
}

func (d *depthMeter) add(tk *token.Token) int {
	switch tk.Type {
	case token.SequenceStartType, token.MappingStartType:
		d.flow++
	case token.SequenceEndType, token.MappingEndType:
		d.flow = max(0, d.flow-1)
	case token.SequenceEntryType:
		d.open(tk.Position.Column)
	case token.MappingValueType:
		if d.flow == 0 && tk.Prev != nil {
			d.open(tk.Prev.Position.Column)
		}
	}
	return d.flow + len(d.columns)
}

func (d *depthMeter) open(column int) {
	for len(d.columns) > 0 && d.columns[len(d.columns)-1] > column {
		d.columns = d.columns[:len(d.columns)-1]
	}
	if len(d.columns) == 0 || d.columns[len(d.columns)-1] < column {
		d.columns = append(d.columns, column)
	}
}
