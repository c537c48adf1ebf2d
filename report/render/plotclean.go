package render

import "strings"

// cleanText makes text from a file safe to show on one line, with single
// blanks: SVG and HTML would join them anyway.
func cleanText(s string) string { return strings.Join(strings.Fields(Sanitize(s)), " ") }

// cleanLines does the same for text of several lines, whose blanks and tabs
// stay as they are.
func cleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		cells := strings.Split(l, "\t")
		for k, c := range cells {
			cells[k] = Sanitize(c)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
