// Package verbs is the RDMA side of zcbench: libibverbs and librdmacm opened at
// run time, queue pairs on a loopback path, and windows of timed batches, one
// lane for each way of handing work requests over.
//
// The timed loops are C (hot.c, hot_send.c); nothing else there is timed. A
// binary built without cgo, without the headers, or with the tag noverbs has the
// same functions, and each says what is missing.
package verbs
