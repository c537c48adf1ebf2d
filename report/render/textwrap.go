package render

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// columnsOf measures text as a terminal shows it. The locale plays no part.
var columnsOf = runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// textWidth is the number of columns s takes.
func textWidth(s string) int { return columnsOf.StringWidth(s) }

// wrapText breaks s at blanks into lines of at most width columns. A word that
// does not fit a line is broken; nothing is dropped, so long names that share
// a prefix stay distinct.
func wrapText(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && textWidth(line)+1+textWidth(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for textWidth(word) > width {
			head := cutText(word, width)
			lines = append(lines, head)
			word = word[len(head):]
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// cutText is the longest head of s that fits width columns, at least one rune.
// It prefers to end before an opening bracket, else in its second half after a
// joint of a name.
func cutText(s string, width int) string {
	used, end, bracket, joint := 0, 0, 0, 0
	for i, r := range s {
		w := columnsOf.RuneWidth(r)
		if strings.ContainsRune("{([", r) && used*3 >= width && used <= width {
			bracket = i
		}
		if used+w > width && end > 0 {
			break
		}
		used += w
		end = i + len(string(r))
		if strings.ContainsRune("})],;:@/=-_.", r) && used*2 > width {
			joint = end
		}
	}
	switch {
	case end == len(s):
		return s
	case bracket > 0:
		return s[:bracket]
	case joint > 0:
		return s[:joint]
	}
	return s[:end]
}

// indented wraps s with first before its first line and rest before the others.
func indented(first, rest, s string, width int) string {
	room := max(width-max(textWidth(first), textWidth(rest)), 1)
	var b strings.Builder
	for i, l := range wrapText(s, room) {
		if i == 0 {
			b.WriteString(first)
		} else {
			b.WriteString(rest)
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}
