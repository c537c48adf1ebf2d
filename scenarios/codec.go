package scenarios

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// schema is a fragment of JSON Schema.
type schema map[string]any

// scalarOf reads a scalar with parse; want says what is expected, for messages.
func scalarOf[T any](want string, s schema, parse func(text string) (T, error)) codec[T] {
	return codec[T]{s, func(d *decoder, path string, n ast.Node) (v T, ok bool) {
		text, _, ok := scalarText(n)
		if !ok {
			d.failNode(n, "%s: expected %s, found %s", path, want, describe(n))
			return v, false
		}
		v, err := parse(text)
		if err != nil {
			d.failValue(path, err)
			return v, false
		}
		return v, true
	}}
}

// numberOf is scalarOf for numbers, with or without a unit: a bare number must
// not be quoted.
func numberOf[T any](want string, s schema, parse func(text string) (T, error)) codec[T] {
	c := scalarOf(want, s, parse)
	return codec[T]{s, func(d *decoder, path string, n ast.Node) (v T, ok bool) {
		text, quoted, ok := scalarText(n)
		if _, err := parseNumber(text); ok && quoted && err == nil {
			d.fail(path, "%s: expected %s, found text: write it without quotes", path, want).Suggest = text
			return v, false
		}
		return c.decode(d, path, n)
	}}
}

// integer reads a whole number from low to high.
func integer(low, high int64) codec[int] {
	want := fmt.Sprintf("a whole number from %d to %d", low, high)
	return numberOf(want, schema{"type": "integer", "minimum": low, "maximum": high}, func(text string) (int, error) {
		v, err := parseInt(text)
		if err != nil {
			return 0, err
		}
		if v < low || v > high {
			return 0, badf("%d is not %s", v, want)
		}
		return int(v), nil
	})
}

// byteSize reads a number of bytes from low to high.
func byteSize(low, high int64) codec[int64] {
	s := ref("bytes")
	s["minimum"], s["maximum"] = low, high // of a number without a unit
	return numberOf("a size such as 64KiB", s, func(text string) (int64, error) {
		v, err := ParseBytes(text)
		if err != nil {
			return 0, err
		}
		if v < low {
			return 0, badf("%s is below the least, %s", FormatBytes(v), FormatBytes(low))
		}
		if v > high {
			return 0, badf("%s is over the limit of %s", FormatBytes(v), FormatBytes(high))
		}
		return v, nil
	})
}

// duration reads nanoseconds from low to high.
func duration(low, high int64) codec[int64] {
	return numberOf("a time such as 2ms", ref("duration"), func(text string) (int64, error) {
		v, err := ParseDuration(text)
		if err != nil {
			return 0, err
		}
		if v < low || v > high {
			return 0, badf("%s is not from %s to %s", FormatDuration(v), FormatDuration(low), FormatDuration(high))
		}
		return v, nil
	})
}

// fraction reads a share from low to high.
func fraction(low, high float64) codec[float64] {
	return numberOf("a share such as 5% or 0.05", ref("fraction"), func(text string) (float64, error) {
		v, err := ParseFraction(text)
		if err != nil {
			return 0, err
		}
		if v < low || v > high {
			return 0, badf("%s is not from %s to %s", text, FormatFraction(low), FormatFraction(high))
		}
		return v, nil
	})
}

// real reads a number above 0 up to high.
func real(high float64) codec[float64] {
	s := schema{"type": "number", "exclusiveMinimum": 0, "maximum": high}
	return numberOf("a number", s, func(text string) (float64, error) {
		v, err := parseNumber(text)
		if err == nil && (v <= 0 || v > high) {
			err = badf("%s is not above 0 and at most %g", text, high)
		}
		return v, err
	})
}

// oneOf reads one of a few words; what names them, such as "transport".
func oneOf(what string, words ...string) codec[string] {
	return scalarOf("one of "+strings.Join(words, ", "), schema{"enum": words}, func(text string) (string, error) {
		for _, w := range words {
			if w == text {
				return w, nil
			}
		}
		return "", &badValue{fmt.Sprintf("%s is no %s (known: %s)", quote(text), what, strings.Join(words, ", ")), Nearest(text, words)}
	})
}

// boolean reads true or false.
func boolean() codec[bool] {
	return scalarOf("true or false", schema{"type": "boolean"}, func(text string) (bool, error) {
		switch text {
		case "true":
			return true, nil
		case "false":
			return false, nil
		case "yes", "on", "True", "TRUE":
			return false, &badValue{quote(text) + " is neither true nor false", "true"}
		case "no", "off", "False", "FALSE":
			return false, &badValue{quote(text) + " is neither true nor false", "false"}
		}
		return false, badf("%s is neither true nor false", quote(text))
	})
}

// prose reads text of at most most characters for people to read. Only with
// lines may it hold line breaks.
func prose(most int, lines bool) codec[string] {
	return scalarOf("text", schema{"type": "string", "minLength": 1, "maxLength": most}, func(text string) (string, error) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
			return "", badf("the text is empty")
		case utf8.RuneCountInString(text) > most:
			return "", badf("the text has %d characters, the limit is %d", utf8.RuneCountInString(text), most)
		case !lines && strings.Contains(text, "\n"):
			return "", badf("the text must be one line")
		}
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || r == utf8.RuneError) {
				return "", badf("the text holds the control character %U", r)
			}
		}
		return text, nil
	})
}

// Names may stand in file names, ids and URLs without quoting.
var (
	nameRule   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	metricRule = regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`)
	paramRule  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,99}$`)
)

// name reads an identifier that rule allows; what names it in messages. A bare
// null is the text null.
func name(what string, rule *regexp.Regexp) codec[string] {
	s := schema{"type": []string{"string", "null"}, "pattern": rule.String()}
	return scalarOf("a name", s, func(text string) (string, error) {
		if !rule.MatchString(text) {
			return "", badf("%s is not a valid %s: lower-case letters, digits and dashes or underscores, at most 100 characters", quote(text), what)
		}
		return text, nil
	})
}

// rawText reads a value of a param as it is written.
func rawText() codec[string] {
	c := prose(200, false)
	c.schema = schema{"type": []string{"string", "number", "boolean", "null"}}
	return c
}
