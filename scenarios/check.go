package scenarios

// maxCases bounds what the lists of a scenario multiply to.
const maxCases = 10_000

// check refuses what every key by itself allows but the whole does not. Whether
// the cases that the baseline, the headline and the claims refer to are there is
// for those to check who know the strategies: a misspelt strategy must be told
// where it is, not where it is referred to.
func (d *decoder) check(s *Scenario) {
	if d.kind.check != nil {
		d.kind.check(d, s.Workload)
	}
	d.checkCases(s)
}

// checkSmoke refuses a smoke run of other trials than those of the whole: it would
// not go through the same code.
func (d *decoder) checkSmoke(whole, smoke *Scenario) {
	if (whole.Measure.Blocks == 0) != (smoke.Measure.Blocks == 0) {
		d.fail("measure.blocks", "smoke.measure.blocks: %d in the smoke run and %d in the whole: timing trials are either in both or in neither", smoke.Measure.Blocks, whole.Measure.Blocks)
	}
}

// checkCases refuses a case that two entries of strategies make, and more
// cases than a run could measure.
func (d *decoder) checkCases(s *Scenario) {
	points := s.Workload.points()
	total := 0
	for _, use := range s.Strategies {
		total += product(points, use.count())
	}
	if total > maxCases {
		d.failKey("workload", "the lists of the workload and the params multiply to more than %d cases", maxCases)
		return
	}
	seen := map[string]int{}
	for i, use := range s.Strategies {
		for _, c := range use.Cases() {
			id := c.Label() + commandLabel(use.Command)
			first, dup := seen[id]
			if dup && first != i {
				d.fail(index("strategies", i), "the case %s is listed twice, first at %s: tell them apart by a param", c.Label(), index("strategies", first))
				break
			}
			seen[id] = i
		}
	}
}

// points is the number of points the axes multiply to; those of other kinds
// are empty.
func (w Workload) points() int {
	n := 1
	for _, values := range []int{
		len(w.Transport), len(w.Clients), len(w.Sizes), len(w.Budget), len(w.Load), len(w.Traffic), len(w.Hold), len(w.Assembly), len(w.Touch), len(w.Reply),
		len(w.Batch), len(w.SGEs), len(w.Bytes), len(w.Buffers), len(w.ConnectData), len(w.AcceptData), len(w.Live), len(w.LiveBytes),
	} {
		n = product(n, max(1, values))
	}
	return n
}

// product multiplies without overflow: anything over maxCases is too much.
func product(factors ...int) int {
	n := 1
	for _, f := range factors {
		n = min(n*f, maxCases+1)
	}
	return n
}
