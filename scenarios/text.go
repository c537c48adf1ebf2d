package scenarios

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxFileBytes bounds a scenario file.
const MaxFileBytes = 1 << 20

// pos is a position in a text; both count from 1, col in characters.
type pos struct{ line, col int }

// splitLines cuts text into lines without their LF or CRLF.
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// checkText refuses what is not plain UTF-8 text: other encodings, a byte
// order mark, tabs and control characters. It returns nil for plain text.
func checkText(file string, text []byte) *Error {
	at := func(p pos, format string, args ...any) *Error {
		head := text[:min(len(text), MaxFileBytes)]
		return newError(file, splitLines(strings.ToValidUTF8(string(head), "\uFFFD")), p, fmt.Sprintf(format, args...))
	}
	start := pos{1, 1}
	switch {
	case len(text) > MaxFileBytes:
		return at(start, "the file has %d bytes, the limit is %d", len(text), MaxFileBytes)
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return at(start, "the file begins with a byte order mark: save it as UTF-8 without one")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return at(start, "the file is UTF-16: save it as UTF-8")
	case len(bytes.TrimSpace(text)) == 0:
		return at(start, "the file is empty")
	}
	for n, line := range bytes.Split(text, []byte("\n")) {
		if col, msg := badRune(bytes.TrimSuffix(line, []byte("\r"))); msg != "" {
			return at(pos{n + 1, col}, "%s", msg)
		}
	}
	return nil
}

// badRune returns the column of the first character of line that may not stand
// in a scenario, and why; msg is empty when there is none.
func badRune(line []byte) (col int, msg string) {
	for col = 1; len(line) > 0; col++ {
		r, n := utf8.DecodeRune(line)
		switch {
		case r == utf8.RuneError && n == 1:
			return col, fmt.Sprintf("the byte %#02x is not UTF-8", line[0])
		case r == '\t':
			return col, "a tab: write spaces"
		case r == 0:
			return col, "a NUL byte: save the file as UTF-8 text"
		case r == '\r':
			return col, "a carriage return inside a line: end lines with LF or CRLF"
		case r == '\ufeff':
			return col, "a byte order mark inside the file"
		case unicode.IsControl(r):
			return col, fmt.Sprintf("the control character %U", r)
		}
		line = line[n:]
	}
	return 0, ""
}
