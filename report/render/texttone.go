package render

import (
	"fmt"
	"strings"
)

// textTone is how a piece of text stands out.
type textTone int

const (
	tonePlain textTone = iota
	toneStrong
	toneGood
	toneBad
	toneWarn
	toneFaint
)

// sgr are the ANSI attributes of the tones: bold, green, red, yellow, dim.
var sgr = map[textTone]string{toneStrong: "1", toneGood: "32", toneBad: "31", toneWarn: "33", toneFaint: "2"}

// paint colours each line of s if colours are wanted.
func (o Options) paint(t textTone, s string) string {
	code, ok := sgr[t]
	if !o.Color || !ok || s == "" {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "\x1b[" + code + "m" + l + "\x1b[0m"
		}
	}
	return strings.Join(lines, "\n")
}

// countOf writes "1 pair", "3 pairs".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
