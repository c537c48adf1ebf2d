// Package ring speaks io_uring to the kernel: set-up and mapping, submission
// and completion with the ordering the kernel expects, and registered buffer
// rings with incremental consumption. It is pure Go on golang.org/x/sys.
//
// Constants and layouts are those of include/uapi/linux/io_uring.h as of Linux
// 6.18; comments name the release that brought each. Whether the running kernel
// has a feature is found by trying, never by its version.
package ring

// Operations.
const (
	OpNop            = 0
	OpReadFixed      = 4
	OpSendMsg        = 9
	OpRecvMsg        = 10
	OpRead           = 22
	OpWrite          = 23
	OpSend           = 26
	OpRecv           = 27
	OpProvideBuffers = 31
	OpRemoveBuffers  = 32
	OpSendZC         = 47 // 6.0
	OpSendMsgZC      = 48 // 6.1
	OpReadMultishot  = 49 // 6.7
)

// SQE flags.
const (
	SQEAsync          = 1 << 4 // IOSQE_ASYNC
	SQEBufferSelect   = 1 << 5 // IOSQE_BUFFER_SELECT
	SQECQESkipSuccess = 1 << 6 // 5.17: no completion unless the request fails
)

// SendZCReportUsage, in SQE.Ioprio of a zero-copy send, has the notification say
// in its Res whether the bytes were copied after all: NotifCopied (6.2).
const (
	SendZCReportUsage = 1 << 3
	NotifCopied       = 1 << 31
)

// Receive flags, in SQE.Ioprio.
const (
	RecvPollFirst = 1 << 0
	RecvMultishot = 1 << 1 // 6.0
	RecvBundle    = 1 << 4 // 6.10
)

// CQE flags. The buffer id is the upper half of the flags when CQEBuffer is set.
const (
	CQEBuffer       = 1 << 0
	CQEMore         = 1 << 1
	CQESockNonEmpty = 1 << 2
	CQENotif        = 1 << 3
	CQEBufMore      = 1 << 4 // 6.12: the buffer is not retired yet
	CQEBufferShift  = 16
)

// Setup flags.
const (
	SetupCQSize       = 1 << 3
	SetupClamp        = 1 << 4
	SetupSubmitAll    = 1 << 7
	SetupCoopTaskrun  = 1 << 8  // 5.19
	SetupTaskrunFlag  = 1 << 9  // 5.19
	SetupSQE128       = 1 << 10 // 5.19
	SetupCQE32        = 1 << 11 // 5.19
	SetupSingleIssuer = 1 << 12 // 6.0
	SetupDeferTaskrun = 1 << 13 // 6.1
	SetupNoSQArray    = 1 << 16 // 6.6
)

// Features reported by setup.
const (
	FeatSingleMmap = 1 << 0
	FeatNoDrop     = 1 << 1
	FeatExtArg     = 1 << 8
	FeatBundle     = 1 << 14
)

// Enter flags.
const (
	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3
)

// SQ ring flags, set by the kernel.
const (
	sqCQOverflow = 1 << 1
	sqTaskrun    = 1 << 2
)

// Register operations and buffer ring flags.
const (
	registerBuffers    = 0
	unregisterBuffers  = 1
	registerPbufRing   = 22
	unregisterPbufRing = 23
	registerSyncCancel = 24 // 6.0
	registerPbufStatus = 26 // 6.8

	cancelAll = 1 << 0 // every request that matches
	cancelAny = 1 << 2 // any request matches

	PbufMmap = 1 << 0 // 6.4
	PbufInc  = 1 << 1 // 6.12: incremental consumption
)

const (
	offSQRing = 0
	offCQRing = 0x8000000
	offSQEs   = 0x10000000
	// A mapped buffer ring lies at offPbuf plus its group shifted by offPbufShift (6.4).
	offPbuf      = 0x80000000
	offPbufShift = 16
)

// SQE is struct io_uring_sqe, 64 bytes.
type SQE struct {
	Opcode   uint8
	Flags    uint8
	Ioprio   uint16
	Fd       int32
	Off      uint64
	Addr     uint64
	Len      uint32
	OpFlags  uint32
	UserData uint64
	BufGroup uint16
	_        uint16
	_        int32
	Addr3    uint64
	_        uint64
}

// CQE is struct io_uring_cqe, 16 bytes.
type CQE struct {
	UserData uint64
	Res      int32
	Flags    uint32
}

// BufferID is the id of the buffer a completion used.
func (c CQE) BufferID() uint16 { return uint16(c.Flags >> CQEBufferShift) }

// params is struct io_uring_params, 120 bytes.
type params struct {
	sqEntries    uint32
	cqEntries    uint32
	flags        uint32
	sqThreadCPU  uint32
	sqThreadIdle uint32
	features     uint32
	wqFd         uint32
	resv         [3]uint32
	sqOff        sqOffsets
	cqOff        cqOffsets
}

type sqOffsets struct {
	head, tail, ringMask, ringEntries, flags, dropped, array, resv1 uint32
	userAddr                                                        uint64
}

type cqOffsets struct {
	head, tail, ringMask, ringEntries, overflow, cqes, flags, resv1 uint32
	userAddr                                                        uint64
}

// bufReg is struct io_uring_buf_reg, 40 bytes.
type bufReg struct {
	ringAddr    uint64
	ringEntries uint32
	bgid        uint16
	flags       uint16
	minLeft     uint32
	resv        [5]uint32
}

// bufStatus is struct io_uring_buf_status, 40 bytes.
type bufStatus struct {
	group uint32
	head  uint32
	resv  [8]uint32
}

// buf is struct io_uring_buf, 16 bytes. The ring's tail is the resv member of
// the first entry.
type buf struct {
	addr uint64
	len  uint32
	bid  uint16
	resv uint16
}

// syncCancelReg is struct io_uring_sync_cancel_reg, 64 bytes.
type syncCancelReg struct {
	addr    uint64
	fd      int32
	flags   uint32
	timeout timespec
	opcode  uint8
	_       [7]uint8
	_       [3]uint64
}

// getEventsArg is struct io_uring_getevents_arg, 24 bytes.
type getEventsArg struct {
	sigmask     uint64
	sigmaskSize uint32
	minWaitUsec uint32
	ts          uint64
}

// timespec is struct __kernel_timespec.
type timespec struct {
	sec  int64
	nsec int64
}
