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
	var smoke ast.Node
	s := objectSchema(scenarioKeys(&Scenario{}, &smoke), false)
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

// definitions are the quantities with units, in the text splitNumber reads.
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
	return schema{
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
