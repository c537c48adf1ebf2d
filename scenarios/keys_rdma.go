package scenarios

import "slices"

// Limits of the workloads of the RDMA kinds.
const (
	maxBatch        = 1024
	maxSGEs         = 16
	maxPayloadBytes = 1 << 20
	// rdma_cm carries no more private data than this with a connection request
	// and its acceptance on an RC queue pair: rdma_connect and rdma_accept refuse
	// one byte more with EINVAL.
	maxConnectData = 56
	maxAcceptData  = 196
)

func postAxes(w *Workload) table {
	return table{
		batchAxis(w, "Required. Work requests handed over by one post."),
		field("sges", &w.SGEs, oneOrMany(integer(1, maxSGEs), label[int]), "Scatter/gather elements of a work request. Default 1."),
		buffersAxis(w),
		bytesAxis(w, "Payload of a work request, or room for it, over all of its scatter/gather elements. Default 64B."),
	}
}

func fillPost(w *Workload) {
	fillAxis(&w.SGEs, 1)
	fillAxis(&w.Buffers, "hot")
	fillAxis(&w.Bytes, 64)
}

// checkSGEs refuses payloads that leave an element nothing: a length of 0 does
// not mean no bytes to all devices.
func checkSGEs(d *decoder, w Workload) {
	most := slices.Max(w.SGEs)
	for i, n := range w.Bytes {
		if n < int64(most) {
			d.fail(index("workload.bytes", i), "%s over %d scatter/gather elements leaves some of them empty: give more bytes, or fewer sges", FormatBytes(n), most)
		}
	}
}

func payloadAxes(w *Workload) table {
	return table{
		bytesAxis(w, "Required. Payload of a work request."),
		batchAxis(w, "Work requests handed over by one post. Default 16."),
		buffersAxis(w),
	}
}

func fillPayload(w *Workload) {
	fillAxis(&w.Batch, 16)
	fillAxis(&w.Buffers, "hot")
}

func connectAxes(w *Workload) table {
	return table{
		field("connect_data", &w.ConnectData, oneOrMany(byteSize(0, maxConnectData), FormatBytes), "Required. Private data sent with a connection request, at most 56 bytes."),
		field("accept_data", &w.AcceptData, oneOrMany(byteSize(0, maxAcceptData), FormatBytes), "Private data sent with the acceptance of a connection, at most 196 bytes. Default 0: none."),
	}
}

func fillConnect(w *Workload) { fillAxis(&w.AcceptData, 0) }

func batchAxis(w *Workload, doc string) key {
	return field("batch", &w.Batch, oneOrMany(integer(1, maxBatch), label[int]), doc)
}

func bytesAxis(w *Workload, doc string) key {
	return field("bytes", &w.Bytes, oneOrMany(byteSize(1, maxPayloadBytes), FormatBytes), doc)
}

func buffersAxis(w *Workload) key {
	return field("buffers", &w.Buffers, oneOrMany(oneOf("kind of buffers", "hot", "cold"), itself), "Where the payload lies: hot (the default), in the same buffers at every post, or cold, in buffers that rotate through more memory than the caches hold.")
}
