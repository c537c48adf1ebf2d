package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// howOrdered tells in what order the trials came.
func howOrdered(s *analyze.Scenario) string {
	if s.Info.Blocks == 0 {
		return fmt.Sprintf("Each trial is a fresh process. Nothing was timed; every case was verified and counted, in random order (seed %d).", s.Seed)
	}
	return fmt.Sprintf("Each trial is a fresh process. %d blocks run every case once each in random order (seed %d), so that whatever disturbs the machine meets all cases alike; effects pair the trials of a block.", s.Info.Blocks, s.Seed)
}

// howMeasured tells how the figures came about.
func howMeasured(s *analyze.Scenario) []string {
	c := s.Counts
	out := []string{
		fmt.Sprintf("%d trials are behind the figures: %d timing, %d counting, %d verifying. %d failed, %d did not count, %d were skipped.",
			c.Used, c.Timing, c.Counting, c.Verify, c.Failed, c.Invalid, c.Skipped),
		howOrdered(s),
		"Arrivals and sizes of messages are seeded and the same for all cases of a block; every trial reports what it received, and a difference is an error.",
		"Timing trials do nothing beside the work. Counting trials, with one message in flight, count calls, copies, allocations and pages. Verifying trials check every byte of every payload.",
		"Latency counts from the moment a message was due to be sent, so a stalled receiver cannot hide its queue.",
	}
	if s.ClockCostNS > 0 {
		out = append(out, fmt.Sprintf("Reading the clock once costs %s.", figure.Format(s.ClockCostNS*1e-9, "s")))
	}
	for _, f := range s.Floor {
		out = append(out, fmt.Sprintf("The harness itself, without a strategy, costs %s of %s (median of %d trials).",
			figure.Format(f.V, f.Unit), figure.Name(cleanText(f.Metric)), f.N))
	}
	if s.Steady.Summary != "" {
		out = append(out, sentence(cleanText(s.Steady.Summary)))
	}
	if s.Info.File != "" {
		out = append(out, fmt.Sprintf("Again on your machine: zcbench run %s --seed %d", cleanText(s.Info.File), s.Seed))
	}
	if s.Info.Digest != "" {
		out = append(out, "SHA-256 of the scenario file: "+cleanText(s.Info.Digest))
	}
	return out
}

// sentence starts s with a capital and ends it with a full stop.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(s[n:], ".") + "."
}

// howToRead tells what the figures mean.
func howToRead(s *analyze.Scenario) []string {
	out := []string{
		"A value is the median over its trials; below it stands the exact interval of that median, or n when there are too few trials for one. A count marked exact was the same in every trial of its seed.",
		"An effect, such as 0.31x, is a case against the baseline of its point, with the exact interval of the Hodges-Lehmann estimate. It is bold when the interval excludes no effect; that is no verdict.",
		"Where a value is zero no ratio exists; the difference is given.",
		"A percentile is shown only if at least ten messages lie beyond it, and percentiles are never averaged.",
	}
	if n := s.Family; n > 0 {
		out = append(out, fmt.Sprintf("Only the claims are tested: %d timed claims share an error level of %s by Holm's method.", n, figure.Digits(s.Info.Alpha, 3)))
	}
	if marks := marksIn(s); len(marks) > 0 {
		out = append(out, "Marks under values: "+strings.Join(marks, "; ")+".")
	}
	return out
}

// markMeanings explains the marks of cells, in the order they are listed.
var markMeanings = []struct{ mark, meaning string }{
	{analyze.MarkNearFloor, "within three times of what the harness itself costs"},
	{analyze.MarkDemoted, "a count that differed between trials of the same seed, so it is treated as sampled"},
	{analyze.MarkDrift, "the first and the second half of the run differ"},
	{analyze.MarkGuestSyscall, "measured in a guest where calls cost more than on hardware: decides nothing"},
	{analyze.MarkOnce, "counted in one trial only"},
}

// marksIn explains the marks that occur.
func marksIn(s *analyze.Scenario) []string {
	seen := map[string]bool{}
	for i := range s.Points {
		for k := range s.Points[i].Cases {
			for _, c := range s.Points[i].Cases[k].Cells {
				for _, m := range c.Marks {
					seen[m] = true
				}
			}
		}
	}
	var out []string
	for _, m := range markMeanings {
		if seen[m.mark] {
			out = append(out, m.mark+": "+m.meaning)
		}
	}
	return out
}
