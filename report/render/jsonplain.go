package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// encodeJSON writes v as one indented JSON document that may be printed on a
// terminal: what does not print is in \u escapes, which encoding/json leaves out
// for most of it.
func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(plainWriter{w})
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// plainWriter escapes what does not print in JSON, where it can only be in a
// string. It is given whole characters.
type plainWriter struct{ w io.Writer }

func (p plainWriter) Write(b []byte) (int, error) {
	var out bytes.Buffer
	from := 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf && b[i] != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if !unicode.IsPrint(r) {
			out.Write(b[from:i])
			if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
				fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
			} else {
				fmt.Fprintf(&out, `\u%04x`, r)
			}
			from = i + n
		}
		i += n
	}
	if out.Len() == 0 {
		return p.w.Write(b)
	}
	out.Write(b[from:])
	if _, err := p.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}
