package scenarios

import (
	"fmt"
	"strings"
	"unicode"
)

// maxShown bounds the faults that one Error prints.
const maxShown = 20

// excerptRunes bounds the width of an excerpt, so that a file on one long line
// stays readable.
const excerptRunes = 100

// Error is a fault of a scenario file, or of a file it reads, at a position.
// Line and Col count from 1, Col in characters.
type Error struct {
	File    string
	Line    int
	Col     int
	Msg     string
	Excerpt string   // the offending line, a newline, and a caret under Col
	Suggest string   // the nearest valid key or value, or empty
	More    []*Error // the other faults of the same file, by position
}

// Error prints file:line:col: message, the offending line with a caret and,
// where there is one, the suggestion; then the same of each further fault.
func (e *Error) Error() string {
	var b strings.Builder
	e.print(&b)
	for i, m := range e.More {
		if i == maxShown-1 {
			fmt.Fprintf(&b, "\nand %d more", len(e.More)-i)
			break
		}
		b.WriteByte('\n')
		m.print(&b)
	}
	return b.String()
}

func (e *Error) print(b *strings.Builder) {
	fmt.Fprintf(b, "%s:%d:%d: %s", printable(e.File), e.Line, e.Col, printable(e.Msg))
	for line := range strings.Lines(e.Excerpt) {
		b.WriteString("\n  " + strings.TrimSuffix(line, "\n"))
	}
	if e.Suggest != "" {
		fmt.Fprintf(b, "\ndid you mean %q?", e.Suggest)
	}
}

// printable replaces what could move the cursor or recolour a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// newError positions a fault in the lines of file. A position outside of the
// text is moved to its nearest character.
func newError(file string, lines []string, at pos, msg string) *Error {
	at.line = max(1, min(at.line, len(lines)))
	line := ""
	if len(lines) > 0 {
		line = lines[at.line-1]
	}
	runes := []rune(line)
	at.col = max(1, min(at.col, len(runes)+1))
	return &Error{File: file, Line: at.line, Col: at.col, Msg: msg, Excerpt: excerpt(runes, at.col)}
}

func excerpt(line []rune, col int) string {
	lead, from, to := "", 0, len(line)
	if to > excerptRunes {
		from = max(0, min(col-1-excerptRunes/2, to-excerptRunes))
		to = from + excerptRunes
	}
	if from > 0 {
		lead = "…"
	}
	text := lead + printable(string(line[from:to]))
	if to < len(line) {
		text += "…"
	}
	return text + "\n" + strings.Repeat(" ", len([]rune(lead))+col-1-from) + "^"
}

// badValue is a fault of a value that does not know yet where it stands.
type badValue struct {
	msg     string
	suggest string
}

func (b *badValue) Error() string {
	if b.suggest == "" {
		return b.msg
	}
	return fmt.Sprintf("%s; did you mean %q?", b.msg, b.suggest)
}

func badf(format string, args ...any) *badValue {
	return &badValue{msg: fmt.Sprintf(format, args...)}
}

// quote shortens and quotes text taken from a file for a message.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
