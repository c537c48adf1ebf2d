package probes

import (
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// faults are the known faults of the kernel's provided buffers.
func faults() []probe.Check {
	var out []probe.Check
	for _, f := range knownFaults() {
		out = append(out, f.check())
	}
	return out
}

func knownFaults() []fault {
	return []fault{
		{
			name: "inc-read-stated-length", source: "liburing issue 1555", seconds: 10,
			help:    "With incremental consumption never state a length when reading a file: what follows a short read lies elsewhere than its completion says.",
			collect: collectReadLength, judge: judgeReadLength,
		},
		{
			name: "inc-buf-more-lost", source: "liburing issues 1553 and 1545, seen on 6.19", seconds: 10,
			help:    "A completion at the end of a pipe or of a file's bytes may call a buffer used up that the kernel goes on filling: handing it back overwrites what comes next.",
			collect: collectLostMore, judge: judgeLostMore,
		},
		{
			name: "inc-recvmsg-small-tail", source: "liburing issue 1433, io_uring/kbuf.c and net.c", seconds: 10, affects: []string{"udp ring-inc with min_left=0"},
			help:    "A multishot recvmsg into incrementally consumed buffers fails when what is left of one is smaller than its header: register the ring with min_left of at least 16 bytes plus name and control lengths, or use recv.",
			collect: collectHeaderTail, judge: judgeHeaderTail,
		},
		{
			name: "inc-msg-trunc", source: "liburing issue 1619, seen on 6.18.26", seconds: 10, affects: []string{"ring-inc with trunc", "ring-inc-bundle with trunc"},
			help:    "Do not combine MSG_TRUNC with incremental consumption: a datagram cut short uses up bytes of the next buffer that were never written.",
			collect: collectTruncation, judge: judgeTruncation,
		},
		{
			name: "bundle-order", source: "liburing issue 1409, kernels 6.13.11 to 6.14.8", seconds: 30, affects: []string{"ring-bundle"},
			help:  "A multishot receive of bundles delivers a stream out of order: receive single buffers.",
			alone: true, collect: collectOrder(0), judge: judgeOrder,
		},
		{
			name: "bundle-order-inc", source: "liburing issue 1423, kernels 6.13.11 to 6.14.11", seconds: 30, affects: []string{"ring-inc-bundle"},
			help:  "A multishot receive of bundles into incrementally consumed buffers delivers a stream out of order: receive single buffers.",
			alone: true, collect: collectOrder(ring.PbufInc), judge: judgeOrder,
		},
		{
			name: "bundle-entry-shrunk", source: "io_ring_buffers_peek in io_uring/kbuf.c, 6.10 until \"don't truncate end buffer for bundles\" of 7.1 and its backports", seconds: 10,
			help:    "A bundle of a stated length that finds nothing leaves its buffer's entry shortened, so later bundles lie elsewhere than their completions say: state no length, or share no group.",
			collect: collectShrunk, judge: judgeShrunk,
		},
		{
			name: "failed-read-names-buffer", source: "liburing issue 1530, 6.12 before the backport of d8e1dec2f860", seconds: 10,
			help:    "Failed reads name a buffer they do not hold: hand nothing back on an error, or two connections get the same memory.",
			collect: collectFailedReads, judge: judgeFailedReads,
		},
		{
			name: "multishot-end-lost", source: "liburing issue 1549, fixed by \"fix multishot recv missing EOF on wakeup race\"", seconds: 15,
			help:  "A multishot receive on a local socket may never tell the end of the stream when the peer sends and shuts down at once: use single receives there, or a timeout.",
			alone: true, collect: collectLostEnd, judge: judgeLostEnd,
		},
		{
			name: "multishot-read-last-buffer", source: "liburing issue 1257, seen on 6.8, fixed by c9d952b9103b", seconds: 10,
			help:    "The completion that ends a multishot read brings bytes without naming their buffer: it is lost, and its bytes with it.",
			collect: collectLastBuffer, judge: judgeLastBuffer,
		},
	}
}
