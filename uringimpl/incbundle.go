package uringimpl

import "github.com/zcbench/zcbench/harness"

// ringIncBundle is ring-inc with receive bundles: a receive that does not fit the
// rest of the buffer in use goes on in the next ones.
var ringIncBundle = harness.Strategy{
	Name: "ring-inc-bundle", Family: "uring", Needs: harness.NeedsUring,
	Summary: "large provided buffers, consumed incrementally, several by one receive",
	Params:  incParams,
	Fits:    fitsIncBundle,
	Open: func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
		return openInc(b, p, true)
	},
}
