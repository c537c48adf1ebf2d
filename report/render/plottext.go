package render

import (
	"fmt"
	"sort"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// elide shortens s to fit width by cutting out its middle: names of cases
// share their beginning, and differ at the end as often as anywhere.
func elide(sty text.Style, s string, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	rs := []rune(s)
	lo, hi := 0, len(rs)-1
	for lo < hi { // the longest that fits
		mid := (lo + hi + 1) / 2
		if sty.Width(cutMiddle(rs, mid)) <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return cutMiddle(rs, lo)
}

// elideEnd shortens a sentence to fit width by cutting off its end.
func elideEnd(sty text.Style, s string, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	rs := []rune(s)
	n := sort.Search(len(rs), func(n int) bool { return sty.Width(string(rs[:n])+"…") > width })
	return string(rs[:max(n-1, 0)]) + "…"
}

// cutMiddle keeps n runes of rs around an ellipsis.
func cutMiddle(rs []rune, n int) string {
	head := (n + 1) / 2
	return string(rs[:head]) + "…" + string(rs[len(rs)-(n-head):])
}

// wrapWords breaks s into lines no wider than width, at spaces where it can.
func wrapWords(sty text.Style, s string, width vg.Length) []string {
	var lines []string
	cur := ""
	for _, word := range strings.Fields(s) {
		next := word
		if cur != "" {
			next = cur + " " + word
		}
		if sty.Width(next) <= width {
			cur = next
			continue
		}
		if cur != "" {
			lines = append(lines, cur)
		}
		cur = elide(sty, word, width)
	}
	if cur != "" {
		lines = append(lines, cur)
	}
	return lines
}

// labelLines breaks a case's name into at most four lines no wider than
// width: before its params, after a comma, before the mark of the baseline.
func labelLines(sty text.Style, name string, width vg.Length) []string {
	if sty.Width(name) <= width {
		return []string{name}
	}
	if plain, ok := strings.CutSuffix(name, baselineSuffix); ok {
		return append(labelLines(sty, plain, width), elide(sty, strings.TrimSpace(baselineSuffix), width))
	}
	head, params, found := strings.Cut(name, "{")
	if !found || head == "" {
		return []string{elide(sty, name, width)}
	}
	params = "{" + params
	lines := []string{elide(sty, head, width)}
	if i := strings.LastIndexByte(params, ','); i > 0 && sty.Width(params) > width {
		return append(lines, elide(sty, params[:i+1], width), elide(sty, params[i+1:], width))
	}
	return append(lines, elide(sty, params, width))
}

// shortNames gives every name's lines within width. Names that would look the
// same get their number in the list in front.
func shortNames(sty text.Style, names []string, width vg.Length) [][]string {
	out := make([][]string, len(names))
	seen := map[string]int{}
	for i, n := range names {
		out[i] = labelLines(sty, n, width)
		seen[strings.Join(out[i], "\n")]++
	}
	for i, n := range names {
		if seen[strings.Join(out[i], "\n")] > 1 {
			out[i] = labelLines(sty, fmt.Sprintf("#%d %s", i+1, n), width)
		}
	}
	return out
}

// drawLines writes lines below each other, the first one's top at y, and
// returns the y below the last.
func drawLines(c draw.Canvas, sty text.Style, x, y vg.Length, lines []string) vg.Length {
	for _, l := range lines {
		writeAt(c, sty, vg.Point{X: x, Y: y - lineHeight(sty)/2}, l)
		y -= lineHeight(sty)
	}
	return y
}

// writeAt writes text whose lower-case letters are centred on the height of at.
func writeAt(c draw.Canvas, sty text.Style, at vg.Point, s string) {
	at.Y += sty.Font.Size * 0.12
	c.FillText(sty, at, s)
}

// lineHeight is the distance between lines of text.
func lineHeight(sty text.Style) vg.Length { return sty.Font.Size * 1.25 }

// widest returns the width of the widest line.
func widest(sty text.Style, labels ...[]string) vg.Length {
	var w vg.Length
	for _, ls := range labels {
		for _, l := range ls {
			w = max(w, sty.Width(l))
		}
	}
	return w
}
