package uringimpl

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// fitsBudget refuses messages a client's whole memory cannot hold.
func fitsBudget(w record.Workload, _ harness.Values) error {
	if largest := load.Largest(w.Sizes); largest > w.BudgetBytes {
		return fmt.Errorf("messages of up to %d bytes do not fit the budget of %d bytes a client", largest, w.BudgetBytes)
	}
	return nil
}

// fitsChunks refuses chunks that do not fit the budget, and so few that a
// message could not be received whole.
func fitsChunks(w record.Workload, p harness.Values) error {
	chunk := p.Bytes("chunk", 0)
	per := w.BudgetBytes / chunk
	if per < 1 {
		return fmt.Errorf("chunk of %d bytes is larger than the budget of %d bytes a client", chunk, w.BudgetBytes)
	}
	n := int64(p.Int("entries", int(per)))
	if n > per {
		return fmt.Errorf("%d entries of %d bytes are more than the budget of %d bytes a client", n, chunk, w.BudgetBytes)
	}
	// The first bytes of a message share a chunk with the one before it. To make
	// it contiguous takes one more chunk, in which to see that it goes on.
	need, why := int64(2), "a message that goes on in a second one"
	if w.Assembly != "contiguous" {
		largest := load.Largest(w.Sizes)
		need, why = (largest+chunk-1)/chunk+1, fmt.Sprintf("a message of %d bytes left where it was received", largest)
	}
	if n < need {
		return fmt.Errorf("%d chunks of %d bytes a client are too few for %s: it takes %d; raise the budget or entries", n, chunk, why, need)
	}
	return fitsBudget(w, p)
}

// fitsRingChunks is fitsChunks of chunks in a mapped ring.
func fitsRingChunks(w record.Workload, p harness.Values) error {
	return fitsGroup(w, p, ring.MaxBufRing, "a ring")
}

// fitsLegacyChunks is fitsChunks of chunks that requests hand back.
func fitsLegacyChunks(w record.Workload, p harness.Values) error {
	return fitsGroup(w, p, ring.MaxLegacyBuffers, "a group without a ring")
}

// fitsBundledChunks is fitsRingChunks of chunks filled several at a time.
func fitsBundledChunks(w record.Workload, p harness.Values) error {
	return cmp.Or(fitsBundles(w), fitsRingChunks(w, p))
}

// fitsGroup is fitsChunks of groups that take so many chunks.
func fitsGroup(w record.Workload, p harness.Values, most int64, what string) error {
	chunk := p.Bytes("chunk", 0)
	if err := cmp.Or(fitsChunks(w, p), fitsDatagrams(w, "chunk", chunk)); err != nil {
		return err
	}
	return fitsGroups(w, p, int64(p.Int("entries", int(w.BudgetBytes/chunk))), most, what)
}

// fitsGroups refuses more buffers, n a client, than a group takes, and more
// groups than there are numbers.
func fitsGroups(w record.Workload, p harness.Values, n, most int64, what string) error {
	switch {
	case isShared(p) && n*int64(w.Clients) > most:
		return fmt.Errorf("%d buffers a client of %d clients are %d, but %s takes %d: use larger or fewer buffers, fewer clients, or group: per-client",
			n, w.Clients, n*int64(w.Clients), what, most)
	case n > most:
		return fmt.Errorf("%d buffers a client are more than the %d that %s takes: use larger or fewer ones", n, most, what)
	case !isShared(p) && w.Clients > math.MaxUint16+1:
		return fmt.Errorf("%d clients need a group each, but there are only %d group numbers: use group: shared", w.Clients, math.MaxUint16+1)
	}
	return nil
}

// fitsBundles refuses datagrams, of which a receive brings one.
func fitsBundles(w record.Workload) error {
	if w.Transport == "udp" {
		return errors.New("bundles are of streams: a receive from a datagram socket brings one datagram; use ring-fixed or ring-inc")
	}
	return nil
}

// fitsInc refuses buffers that are too few or too small for incremental
// consumption.
func fitsInc(w record.Workload, p harness.Values) error {
	n := int64(p.Int("entries", 2))
	if n < 2 {
		return fmt.Errorf("%d entries: incremental consumption needs at least 2, or each retirement starves the client", n)
	}
	size := incSize(w.BudgetBytes, n)
	switch {
	case size == 0:
		return fmt.Errorf("%d entries leave less than a page each of the budget of %d bytes", n, w.BudgetBytes)
	case size > math.MaxInt32:
		return fmt.Errorf("buffers of %d bytes are longer than the kernel takes; use more entries", size)
	}
	// A message may begin with the last byte of a buffer. In a group of all clients
	// others' bytes lie between its own too: whether it has room shows in the trial.
	if largest := load.Largest(w.Sizes); w.Assembly != "contiguous" && largest > 1+(n-1)*size {
		return fmt.Errorf("%d entries of %d bytes are too few for a message of %d bytes left where it was received; raise the budget", n, size, largest)
	}
	return cmp.Or(fitsGroups(w, p, n, ring.MaxBufRing, "a ring"), fitsDatagrams(w, "a buffer", size),
		fitsDatagrams(w, "recv", p.Bytes("recv", size)), fitsBudget(w, p))
}

// fitsIncBundle is fitsInc of buffers used several at a time.
func fitsIncBundle(w record.Workload, p harness.Values) error {
	if p.Text("recv") != harness.Auto && !p.Bool("multishot") {
		// Measured: a bundle that fills what was asked for is tried again for all
		// that is in the socket (io_recv_finish in io_uring/net.c).
		return errors.New("the kernel takes recv for the first part of a single receive's bundle only; use multishot: true, or recv: auto")
	}
	return cmp.Or(fitsBundles(w), fitsInc(w, p))
}
