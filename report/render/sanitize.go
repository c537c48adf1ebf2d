package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text from a file safe to print on one line of a terminal or
// a page. Line breaks and tabs become blanks; whatever else does not print
// (escape sequences, other controls, invisible and bidirectional format
// characters, bytes that are not UTF-8) is spelt out as a Go escape, so names
// that differ stay different.
func Sanitize(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(escaped(r))
		}
		s = s[n:]
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func escaped(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// asciiFor replaces the few characters our own words use.
var asciiFor = strings.NewReplacer("–", "-", "—", "-", "≥", ">=", "≤", "<=", "±", "+-", "µ", "u", "×", "x", "…", "...")

// toASCII spells out what is not ASCII.
func toASCII(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, r := range asciiFor.Replace(s) {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteString(escaped(r))
		}
	}
	return b.String()
}

// text is s as the options allow it, on one line.
func (o Options) text(s string) string {
	s = Sanitize(s)
	if o.ASCII {
		return toASCII(s)
	}
	return s
}
