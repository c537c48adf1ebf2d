package harness

// plantEvery is how many messages share one burn: a short one would hide behind
// the instructions around it, which the CPU runs at the same time.
const plantEvery = 256

// plant makes the sink burn so much CPU time a message. It takes the place of the
// memory samples, which timing trials do not take, so that nothing is added to
// the measured path when nothing is planted.
func (s *Sink) plant(ns int64) {
	if ns <= 0 || !s.timed {
		return
	}
	turns := s.turnsIn(ns * plantEvery)
	s.sampled = s.got + plantEvery
	s.sample = func(messages uint64) uint64 {
		s.touched = burn(s.touched, turns)
		return messages + plantEvery
	}
}

// turnsIn is how many turns of burn take so many nanoseconds: by the fastest of
// some attempts, since anything else that happens only adds to them.
func (s *Sink) turnsIn(ns int64) int {
	const trial, attempts = 100_000, 20
	fastest := int64(1 << 62)
	for range attempts {
		start := s.clk.Now()
		s.touched = burn(s.touched, trial)
		fastest = min(fastest, s.clk.NS(s.clk.Now()-start))
	}
	return max(1, int(ns*trial/max(1, fastest)))
}

//go:noinline
func burn(x uint64, turns int) uint64 {
	for range turns {
		x = x*0x9e3779b97f4a7c15 + 1
	}
	return x
}
