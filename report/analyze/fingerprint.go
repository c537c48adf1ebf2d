package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// workKey names work all cases must share.
type workKey struct {
	point         string
	purpose       record.Purpose
	block, repeat int
}

// mismatchKey gathers the blocks in which the same cases stand out.
type mismatchKey struct {
	point   string
	purpose record.Purpose
	cases   string
}

type mismatch struct {
	blocks []string
	names  []string
	text   string
}

// fingerprints checks that the cases of a point did the same work in every
// block. Those that stand out are tainted, and no claim rests on them.
func (r *run) fingerprints() []Warning {
	work := map[workKey][]*record.TrialLine{}
	var keys []workKey
	for _, c := range r.cases {
		for _, t := range c.used {
			k := workKey{c.info.Point, t.Trial.Purpose, t.Trial.Block, t.Trial.Repeat}
			if work[k] == nil {
				keys = append(keys, k)
			}
			work[k] = append(work[k], t)
		}
	}
	slices.SortFunc(keys, func(a, b workKey) int {
		return cmp.Or(cmp.Compare(a.point, b.point), cmp.Compare(a.purpose, b.purpose), cmp.Compare(a.block, b.block), cmp.Compare(a.repeat, b.repeat))
	})
	found := map[mismatchKey]*mismatch{}
	var order []mismatchKey
	for _, k := range keys {
		odd, want := oddOnes(work[k])
		if len(odd) == 0 {
			continue
		}
		mk, m := r.describeOdd(k, odd, want)
		if found[mk] == nil {
			found[mk] = m
			order = append(order, mk)
		}
		found[mk].blocks = append(found[mk].blocks, blockName(k))
	}
	var out []Warning
	for _, mk := range order {
		m := found[mk]
		out = append(out, Warning{Level: LevelError, Code: CodeFingerprint, Cases: m.names,
			Text: fmt.Sprintf("unequal work in %s trials, %s: %s; their figures must not be compared", mk.purpose, list(m.blocks), m.text)})
	}
	return out
}

func blockName(k workKey) string {
	switch {
	case k.block < 0: // outside of the blocks
		return fmt.Sprintf("repeat %d", k.repeat)
	case k.repeat > 0:
		return fmt.Sprintf("block %d repeat %d", k.block, k.repeat)
	}
	return fmt.Sprintf("block %d", k.block)
}

// oddOnes returns the trials whose fingerprint is not the one most share; all
// of them when no fingerprint is shared by more than any other.
func oddOnes(ts []*record.TrialLine) (odd []*record.TrialLine, want *record.Fingerprint) {
	n := map[record.Fingerprint]int{}
	best, ties := record.Fingerprint{}, 0
	for _, t := range ts {
		n[t.Record.Fingerprint]++
	}
	if len(n) < 2 {
		return nil, nil
	}
	for f, c := range n {
		switch {
		case c > n[best]:
			best, ties = f, 1
		case c == n[best]:
			ties++
		}
	}
	if ties > 1 {
		return ts, nil
	}
	for _, t := range ts {
		if t.Record.Fingerprint != best {
			odd = append(odd, t)
		}
	}
	return odd, &best
}

func (r *run) describeOdd(k workKey, odd []*record.TrialLine, want *record.Fingerprint) (mismatchKey, *mismatch) {
	m := &mismatch{}
	var did []string
	for _, t := range odd {
		m.names = append(m.names, t.Trial.Case)
		did = append(did, t.Trial.Case+" did "+workWords(t.Record.Fingerprint))
		if c := r.byKey[caseKey{t.Trial.Case, t.Trial.Build}]; c != nil {
			c.tainted = unequalWork
		}
	}
	slices.Sort(m.names)
	m.text = list(did)
	if want != nil {
		m.text += ", the others " + workWords(*want)
	}
	return mismatchKey{k.point, k.purpose, strings.Join(m.names, "\x00")}, m
}

func workWords(f record.Fingerprint) string {
	return fmt.Sprintf("%d messages of %d bytes with sum %x", f.Ops, f.Bytes, f.Sum)
}
