package scenarios

// maxCases bounds what the lists of a scenario multiply to.
const maxCases = 10_000

// check refuses what every key by itself allows but the whole does not. Whether
// the cases that the baseline, the headline and the claims refer to are there is
// for those to check who know the strategies: a misspelt strategy must be told
// where it is, not where it is referred to.
func (d *decoder) check(s *Scenario) {
	d.checkBudget(s.Workload)
	d.checkCases(s)
}

// checkBudget refuses sizes that no strategy could hold in its budget.
func (d *decoder) checkBudget(w Workload) {
	least := w.Budget[0]
	for _, b := range w.Budget {
		least = min(least, b)
	}
	for i, sizes := range w.Sizes {
		if n := sizes.Largest(); n > least {
			d.fail(index("workload.sizes", i), "messages of up to %s do not fit the budget of %s: give sizes a max, or a larger budget", FormatBytes(n), FormatBytes(least))
		}
	}
}

// checkCases refuses a case that two entries of strategies make, and more
// cases than a run could measure.
func (d *decoder) checkCases(s *Scenario) {
	points := product(len(s.Workload.Transport), len(s.Workload.Clients), len(s.Workload.Sizes), len(s.Workload.Budget),
		len(s.Workload.Load), len(s.Workload.Hold), len(s.Workload.Assembly), len(s.Workload.Touch))
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
			first, dup := seen[c.Label()]
			if dup && first != i {
				d.fail(index("strategies", i), "the case %s is listed twice, first at %s: tell them apart by a param", c.Label(), index("strategies", first))
				break
			}
			seen[c.Label()] = i
		}
	}
}

// product multiplies without overflow: anything over maxCases is too much.
func product(factors ...int) int {
	n := 1
	for _, f := range factors {
		n = min(n*f, maxCases+1)
	}
	return n
}
