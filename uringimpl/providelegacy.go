package uringimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// provideLegacy is ring-fixed without the mapped ring: chunks are handed back by
// requests (5.7).
var provideLegacy = harness.Strategy{
	Name: "provide-legacy", Family: "uring", Needs: harness.NeedsUring,
	Summary: "provided chunks of one size, handed back by PROVIDE_BUFFERS requests",
	Params: []harness.Param{
		paramChunk, paramEntries, paramGroup, paramMultishot, paramReprovide,
		{Name: "replenish", Kind: harness.ParamInt, Default: "32",
			Help: "chunks handed back at a time, once so many are due; one request takes those of them that are neighbours in memory"},
		{Name: "skip-cqe", Kind: harness.ParamBool, Default: "false",
			Help: "hand back without a completion (IOSQE_CQE_SKIP_SUCCESS, 5.17)"},
	},
	Fits: fitsLegacyChunks,
	Open: openProvideLegacy,
}

// legacyFixed is fixed with a group that answers.
type legacyFixed struct {
	fixed
	legacy *legacy
}

func openProvideLegacy(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	chunk := int(p.Bytes("chunk", 4096))
	per := p.Int("entries", int(b.Trial.Workload.BudgetBytes)/chunk)
	r, err := openProvided(b, p, setup{
		size: chunk, per: per, legacy: true,
		completions: len(b.FDs) * (2*per + 1), // a chunk that comes back may have one too
	})
	if err != nil {
		return nil, err
	}
	v := legacyFixed{fixed{r}, r.back.(*legacy)}
	r.take = v.take
	err = r.provideAll()
	v.legacy.atOnce = p.Int("replenish", 32) // the first fill takes a request a group
	return v, err
}

// take delivers what a run of completions brought.
func (r legacyFixed) take(cqes []ring.CQE) error {
	r.count.CQEs += uint64(len(cqes))
	for i := range cqes {
		var err error
		if c := cqes[i]; c.UserData >= provideTag {
			err = r.legacy.done(c)
		} else {
			err = r.receive(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r legacyFixed) Notes() []string {
	return append(r.fixed.Notes(), "the kernel's own list of the buffers provided is not in ring_bytes")
}
