package render

import (
	"sort"

	"gonum.org/v1/plot/vg"
)

// slot is a label's place on a line: where its middle should be, and its height.
type slot struct{ at, height vg.Length }

// spread moves slots apart so that none overlap, as little as possible, and
// keeps them within lo..hi when they fit. It returns the middles in the order given.
func spread(slots []slot, lo, hi vg.Length) []vg.Length {
	order := make([]int, len(slots))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return slots[order[a]].at < slots[order[b]].at })
	// Slots that touch form a group that moves as one to the mean of what its
	// members want; a group that then touches the one below joins it.
	type group struct {
		from, to       int // in order
		height, bottom vg.Length
	}
	var groups []group
	for i, k := range order {
		s := slots[k]
		groups = append(groups, group{i, i + 1, s.height, clampLength(s.at-s.height/2, lo, hi-s.height)})
		for n := len(groups); n > 1 && groups[n-2].bottom+groups[n-2].height > groups[n-1].bottom; n-- {
			a, b := groups[n-2], groups[n-1]
			g := group{from: a.from, to: b.to, height: a.height + b.height}
			var want, below vg.Length
			for _, m := range order[g.from:g.to] {
				want += slots[m].at - slots[m].height/2 - below
				below += slots[m].height
			}
			g.bottom = clampLength(want/vg.Length(g.to-g.from), lo, hi-g.height)
			groups = append(groups[:n-2], g)
		}
	}
	out := make([]vg.Length, len(slots))
	for _, g := range groups {
		y := g.bottom
		for _, m := range order[g.from:g.to] {
			out[m] = y + slots[m].height/2
			y += slots[m].height
		}
	}
	return out
}

// clampLength keeps v in lo..hi; lo wins when they cross.
func clampLength(v, lo, hi vg.Length) vg.Length { return max(min(v, hi), lo) }

// box is a rectangle a label would cover.
type box = vg.Rectangle

// overlap is the area two boxes share.
func overlap(a, b box) float64 {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w) * float64(h)
}

// around is the box of a level or upright line from a to b, r thick on each side.
func around(a, b vg.Point, r vg.Length) box {
	return box{
		Min: vg.Point{X: min(a.X, b.X) - r, Y: min(a.Y, b.Y) - r},
		Max: vg.Point{X: max(a.X, b.X) + r, Y: max(a.Y, b.Y) + r},
	}
}

// outside is the area of b that lies outside of frame.
func outside(b, frame box) float64 {
	s := b.Size()
	return float64(s.X)*float64(s.Y) - overlap(b, frame)
}

// pointLabel is a label to place beside a point.
type pointLabel struct {
	at   vg.Point
	size vg.Point
}

// placeLabels finds for each label a box beside its point that covers as little
// as possible of the other labels, of the obstacles, and of what is outside of
// frame. Greedy in the order given, then improved twice with all in place.
func placeLabels(labels []pointLabel, obstacles []box, frame box) []box {
	placed := make([]box, len(labels))
	have := make([]bool, len(labels))
	for range 3 {
		for i, l := range labels {
			best, bestCost := box{}, 0.0
			for k, b := range candidates(l) {
				cost := float64(k) * 0.5 // prefer the near and usual places
				cost += 4 * outside(b, frame)
				for j := range placed {
					if j != i && have[j] {
						cost += 2 * overlap(b, placed[j])
					}
				}
				for _, o := range obstacles {
					cost += overlap(b, o)
				}
				if k == 0 || cost < bestCost {
					best, bestCost = b, cost
				}
			}
			placed[i], have[i] = best, true
		}
	}
	return placed
}

// candidates are the places beside a point, the preferred first: right, left,
// above, below, the corners, then the same further away.
func candidates(l pointLabel) []box {
	var out []box
	for _, gap := range []vg.Length{7, 18, 32, 48, 66} {
		w, h := l.size.X, l.size.Y
		for _, off := range []vg.Point{
			{X: gap, Y: -h / 2}, {X: -gap - w, Y: -h / 2},
			{X: -w / 2, Y: gap}, {X: -w / 2, Y: -gap - h},
			{X: gap * .7, Y: gap * .7}, {X: -w - gap*.7, Y: gap * .7},
			{X: gap * .7, Y: -h - gap*.7}, {X: -w - gap*.7, Y: -h - gap*.7},
		} {
			lo := l.at.Add(off)
			out = append(out, box{Min: lo, Max: lo.Add(vg.Point{X: w, Y: h})})
		}
	}
	return out
}
