package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// generateSchema derives the JSON Schema of scenario files from the tables the
// parser reads with. A test compares it with the committed schema.json.
func generateSchema() ([]byte, error) {
	s := scenarioSchema(anyKind())
	props := s["properties"].(schema)
	for _, name := range byKind {
		props[name] = schema{"type": "object", "description": props[name].(schema)["description"]}
	}
	s["allOf"] = branches()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "https://github.com/zcbench/zcbench/scenarios/schema.json"
	s["title"] = "zcbench scenario"
	s["description"] = "One question, one workload, the strategies it compares, how to measure, and the claims it decides."
	s["$defs"] = definitions()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encode the JSON schema: %w", err)
	}
	return b.Bytes(), nil
}

// byKind are the keys whose own keys the kind decides.
var byKind = []string{"workload", "measure", "smoke"}

func scenarioSchema(k kind) schema {
	var smoke ast.Node
	return objectSchema(scenarioKeys(k, &Scenario{}, &smoke), false)
}

// branches say what the keys of byKind hold for each kind.
func branches() (all []schema) {
	for _, k := range kinds() {
		props, then := scenarioSchema(k)["properties"].(schema), schema{}
		for _, name := range byKind {
			then[name] = props[name]
		}
		all = append(all, schema{
			"if":   schema{"properties": schema{"kind": schema{"const": k.name}}, "required": []string{"kind"}},
			"then": schema{"properties": then},
		})
	}
	return all
}

// definitions are the distributions, and the quantities with units in the text
// splitNumber reads.
func definitions() schema {
	const number = `(0|[1-9][0-9]*|(0|[1-9][0-9]*)?\.[0-9]+)`
	text := func(units ...string) schema {
		return schema{"type": "string", "pattern": "^" + number + " ?(" + strings.Join(units, "|") + ")$"}
	}
	names := func(units []unit) (all []string) {
		for _, u := range units {
			all = append(all, regexp.QuoteMeta(u.name))
		}
		return all
	}
	bare := schema{"type": "number", "minimum": 0}
	sizes := distribution().schema
	sizes["description"] = "A distribution of sizes."
	return schema{
		"sizes": sizes,
		"bytes": schema{
			"description": "A number of bytes: 4096, 64KiB, 1.5MiB, or decimal 4KB.",
			"anyOf":       []schema{{"type": "integer", "minimum": 0}, text(names(byteUnits)...)},
		},
		"duration": schema{
			"description": "A time: 2ms, 50us, 1s.",
			"anyOf":       []schema{{"const": 0}, text(names(timeUnits)...)},
		},
		"fraction": schema{
			"description": "A share: 50% or 0.5.",
			"anyOf":       []schema{bare, text("%")},
		},
		"rate": schema{
			"description": "Events per second: 20000/s, 20k/s.",
			"anyOf":       []schema{text("/s", "k/s", "M/s")},
		},
	}
}
