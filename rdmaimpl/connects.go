package rdmaimpl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// connects measures set-up of connections whose private data is owned by the
// library, or borrowed from the caller.
func connects(owned bool) func(record.Trial, harness.Values, *harness.Outcome) error {
	return func(t record.Trial, _ harness.Values, o *harness.Outcome) error {
		return skippable(o, connect(t, o, owned))
	}
}

func connect(t record.Trial, o *harness.Outcome, owned bool) (err error) {
	if err := verbs.LoadCM(); err != nil {
		return err
	}
	ctx, err := verbs.Open(t.Device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.Close()) }()
	describe(o, ctx)
	w := t.Workload
	cfg := verbs.ConnectConfig{
		Owned: owned, Connect: private(t.Seed, int(w.ConnectData)), Accept: private(t.Seed+1, int(w.AcceptData)),
		Rounds: t.Messages, Monotonic: t.Clock.Source != "tsc",
	}
	r, err := ctx.Connect(cfg)
	if err != nil {
		return err
	}
	p := &harness.Posts{
		Calls: int64(r.Rounds), WRs: int64(r.Rounds), Parts: int64(r.Rounds), Whole: int64(r.Rounds), BlockedNS: -1,
	}
	for i := range r.Setup {
		p.PostNS += ns(t, r.Connect[i])
		p.TotalNS += ns(t, r.Setup[i])
		p.CompletionNS = append(p.CompletionNS, int64(ns(t, r.Setup[i])))
	}
	slices.Sort(p.CompletionNS)
	p.ElapsedNS = p.TotalNS
	if len(r.Setup) > 0 {
		p.FirstNS = ns(t, r.Setup[0])
	}
	if r.Counts != nil {
		count(p, *r.Counts)
	}
	// librdmacm copies private data of this size with inlined code: no call of
	// memcpy shows it, and none seen is not none made.
	p.ProviderCopied = -1
	o.Posts = p
	o.Work = record.Fingerprint{Ops: int64(r.Rounds), Bytes: int64(r.Rounds) * (w.ConnectData + w.AcceptData)}
	o.Notes = append(o.Notes, fmt.Sprintf("private data arrives padded: %d bytes with the request, %d with the reply", r.ConnectArrived, r.AcceptArrived))
	return nil
}

// private is n bytes of private data that another trial would not send.
func private(seed uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = verbs.Pattern(seed, 0, i)
	}
	return b
}
