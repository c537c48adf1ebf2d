package load

import (
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func TestLimited(t *testing.T) {
	// A window of 1000 messages at 1000/s is due after a second.
	const s = int64(1e9)
	open := func(wall, blocked, late int64) record.Generator {
		return record.Generator{Messages: 1000, OfferedHz: 1000, WallNS: wall, BlockedNS: blocked, LateP50NS: late}
	}
	brief := func(wall, blocked int64) record.Generator {
		return record.Generator{Messages: 10, OfferedHz: 1000, WallNS: wall, BlockedNS: blocked}
	}
	closed := func(idle, blocked int64) record.Generator {
		return record.Generator{Messages: 1000, WallNS: s, IdleNS: idle, BlockedNS: blocked}
	}
	for _, c := range []struct {
		name, mode string
		g          record.Generator
		want       string
	}{
		{"on time", "open", open(s, 0, 0), LimitedNone},
		{"early", "open", open(s*9/10, 0, 0), LimitedNone},
		{"2 % over", "open", open(s*102/100, 0, 0), LimitedNone},
		{"3 % over, never blocked", "open", open(s*103/100, 0, 0), LimitedGenerator},
		{"3 % over, blocked for under half of that", "open", open(s*103/100, s*149/10000, 0), LimitedGenerator},
		{"3 % over, blocked for half of that", "open", open(s*103/100, s*150/10000, 0), LimitedReceiver},
		{"twice as long, blocked", "open", open(2*s, s, 0), LimitedReceiver},
		{"twice as long, blocked and late", "open", open(2*s, s, s), LimitedReceiver},
		{"late median", "open", open(s, 0, 100_001), LimitedGenerator},
		{"late median at the edge", "open", open(s, 0, 100_000), LimitedNone},
		{"late median, blocked much", "open", open(s, s/2, 100_001), LimitedGenerator},
		{"blocked a fifth of the time", "open", open(s, s/5, 0), LimitedNone},
		{"blocked more than that", "open", open(s, s/5+1, 0), LimitedReceiver},
		{"3 % over by less than a millisecond", "open", brief(103e5, 0), LimitedNone},
		{"over by a millisecond", "open", brief(11e6, 0), LimitedNone},
		{"over by more", "open", brief(11e6+1, 0), LimitedGenerator},
		{"no rate", "open", record.Generator{Messages: 1, WallNS: s}, LimitedNone},
		{"waits a lot", "closed", closed(s/2, 0), LimitedNone},
		{"waits 2 %", "closed", closed(s/50, 0), LimitedNone},
		{"waits less", "closed", closed(s/50-1, 0), LimitedGenerator},
		{"never waits", "closed", closed(0, 0), LimitedGenerator},
		{"waits for room", "closed", closed(0, s), LimitedNone},
		{"waits for both", "closed", closed(s/100, s/100), LimitedNone},
		{"lockstep", Lockstep, closed(0, 0), LimitedNone},
	} {
		if got := Limited(c.mode, c.g); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.mode, c.name, got, c.want)
		}
	}
}
