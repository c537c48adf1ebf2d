package ring

import (
	"testing"
	"unsafe"
)

// layout is one figure of the ABI, as include/uapi/linux/io_uring.h has it.
// want is the kernel's; field is the member in C, empty for the struct's size.
type layout struct {
	structure, field string
	got, want        uintptr
}

// layouts lists size and offsets of every struct shared with the kernel.
func layouts() []layout {
	var (
		e  SQE
		c  CQE
		p  params
		so sqOffsets
		co cqOffsets
	)
	return append([]layout{
		{"io_uring_sqe", "", unsafe.Sizeof(e), 64},
		{"io_uring_sqe", "opcode", unsafe.Offsetof(e.Opcode), 0},
		{"io_uring_sqe", "flags", unsafe.Offsetof(e.Flags), 1},
		{"io_uring_sqe", "ioprio", unsafe.Offsetof(e.Ioprio), 2},
		{"io_uring_sqe", "fd", unsafe.Offsetof(e.Fd), 4},
		{"io_uring_sqe", "off", unsafe.Offsetof(e.Off), 8},
		{"io_uring_sqe", "addr", unsafe.Offsetof(e.Addr), 16},
		{"io_uring_sqe", "len", unsafe.Offsetof(e.Len), 24},
		{"io_uring_sqe", "msg_flags", unsafe.Offsetof(e.OpFlags), 28},
		{"io_uring_sqe", "user_data", unsafe.Offsetof(e.UserData), 32},
		{"io_uring_sqe", "buf_group", unsafe.Offsetof(e.BufGroup), 40},
		{"io_uring_sqe", "addr3", unsafe.Offsetof(e.Addr3), 48},

		{"io_uring_cqe", "", unsafe.Sizeof(c), 16},
		{"io_uring_cqe", "user_data", unsafe.Offsetof(c.UserData), 0},
		{"io_uring_cqe", "res", unsafe.Offsetof(c.Res), 8},
		{"io_uring_cqe", "flags", unsafe.Offsetof(c.Flags), 12},

		{"io_uring_params", "", unsafe.Sizeof(p), 120},
		{"io_uring_params", "sq_entries", unsafe.Offsetof(p.sqEntries), 0},
		{"io_uring_params", "cq_entries", unsafe.Offsetof(p.cqEntries), 4},
		{"io_uring_params", "flags", unsafe.Offsetof(p.flags), 8},
		{"io_uring_params", "sq_thread_cpu", unsafe.Offsetof(p.sqThreadCPU), 12},
		{"io_uring_params", "sq_thread_idle", unsafe.Offsetof(p.sqThreadIdle), 16},
		{"io_uring_params", "features", unsafe.Offsetof(p.features), 20},
		{"io_uring_params", "wq_fd", unsafe.Offsetof(p.wqFd), 24},
		{"io_uring_params", "resv", unsafe.Offsetof(p.resv), 28},
		{"io_uring_params", "sq_off", unsafe.Offsetof(p.sqOff), 40},
		{"io_uring_params", "cq_off", unsafe.Offsetof(p.cqOff), 80},

		{"io_sqring_offsets", "", unsafe.Sizeof(so), 40},
		{"io_sqring_offsets", "head", unsafe.Offsetof(so.head), 0},
		{"io_sqring_offsets", "tail", unsafe.Offsetof(so.tail), 4},
		{"io_sqring_offsets", "ring_mask", unsafe.Offsetof(so.ringMask), 8},
		{"io_sqring_offsets", "ring_entries", unsafe.Offsetof(so.ringEntries), 12},
		{"io_sqring_offsets", "flags", unsafe.Offsetof(so.flags), 16},
		{"io_sqring_offsets", "dropped", unsafe.Offsetof(so.dropped), 20},
		{"io_sqring_offsets", "array", unsafe.Offsetof(so.array), 24},

		{"io_cqring_offsets", "", unsafe.Sizeof(co), 40},
		{"io_cqring_offsets", "head", unsafe.Offsetof(co.head), 0},
		{"io_cqring_offsets", "tail", unsafe.Offsetof(co.tail), 4},
		{"io_cqring_offsets", "ring_mask", unsafe.Offsetof(co.ringMask), 8},
		{"io_cqring_offsets", "ring_entries", unsafe.Offsetof(co.ringEntries), 12},
		{"io_cqring_offsets", "overflow", unsafe.Offsetof(co.overflow), 16},
		{"io_cqring_offsets", "cqes", unsafe.Offsetof(co.cqes), 20},
		{"io_cqring_offsets", "flags", unsafe.Offsetof(co.flags), 24},
	}, bufferLayouts()...)
}

// bufferLayouts are those of io_uring_register and io_uring_enter.
func bufferLayouts() []layout {
	var (
		r bufReg
		b buf
		s bufStatus
		c syncCancelReg
		g getEventsArg
		k timespec
	)
	return []layout{
		{"io_uring_buf_reg", "", unsafe.Sizeof(r), 40},
		{"io_uring_buf_reg", "ring_addr", unsafe.Offsetof(r.ringAddr), 0},
		{"io_uring_buf_reg", "ring_entries", unsafe.Offsetof(r.ringEntries), 8},
		{"io_uring_buf_reg", "bgid", unsafe.Offsetof(r.bgid), 12},
		{"io_uring_buf_reg", "flags", unsafe.Offsetof(r.flags), 14},
		{"io_uring_buf_reg", "min_left", unsafe.Offsetof(r.minLeft), 16},

		{"io_uring_buf", "", unsafe.Sizeof(b), 16},
		{"io_uring_buf", "addr", unsafe.Offsetof(b.addr), 0},
		{"io_uring_buf", "len", unsafe.Offsetof(b.len), 8},
		{"io_uring_buf", "bid", unsafe.Offsetof(b.bid), 12},
		{"io_uring_buf", "resv", unsafe.Offsetof(b.resv), 14},
		// The ring's tail lies over the first entry's resv.
		{"io_uring_buf_ring", "tail", unsafe.Offsetof(b.resv), 14},

		{"io_uring_buf_status", "", unsafe.Sizeof(s), 40},
		{"io_uring_buf_status", "buf_group", unsafe.Offsetof(s.group), 0},
		{"io_uring_buf_status", "head", unsafe.Offsetof(s.head), 4},

		{"io_uring_sync_cancel_reg", "", unsafe.Sizeof(c), 64},
		{"io_uring_sync_cancel_reg", "addr", unsafe.Offsetof(c.addr), 0},
		{"io_uring_sync_cancel_reg", "fd", unsafe.Offsetof(c.fd), 8},
		{"io_uring_sync_cancel_reg", "flags", unsafe.Offsetof(c.flags), 12},
		{"io_uring_sync_cancel_reg", "timeout", unsafe.Offsetof(c.timeout), 16},

		{"io_uring_getevents_arg", "", unsafe.Sizeof(g), 24},
		{"io_uring_getevents_arg", "sigmask", unsafe.Offsetof(g.sigmask), 0},
		{"io_uring_getevents_arg", "sigmask_sz", unsafe.Offsetof(g.sigmaskSize), 8},
		{"io_uring_getevents_arg", "ts", unsafe.Offsetof(g.ts), 16},

		{"__kernel_timespec", "", unsafe.Sizeof(k), 16},
		{"__kernel_timespec", "tv_nsec", unsafe.Offsetof(k.nsec), 8},
	}
}

// constant is a number of the ABI under its name in C.
type constant struct {
	name      string
	got, want uint64
}

func constants() []constant {
	return []constant{
		{"IORING_OP_NOP", OpNop, 0},
		{"IORING_OP_READ_FIXED", OpReadFixed, 4},
		{"IORING_OP_SENDMSG", OpSendMsg, 9},
		{"IORING_OP_SENDMSG_ZC", OpSendMsgZC, 48},
		{"IORING_OP_RECVMSG", OpRecvMsg, 10},
		{"IORING_OP_READ", OpRead, 22},
		{"IORING_OP_WRITE", OpWrite, 23},
		{"IORING_OP_SEND", OpSend, 26},
		{"IORING_OP_RECV", OpRecv, 27},
		{"IORING_OP_PROVIDE_BUFFERS", OpProvideBuffers, 31},
		{"IORING_OP_REMOVE_BUFFERS", OpRemoveBuffers, 32},
		{"IORING_OP_SEND_ZC", OpSendZC, 47},
		{"IORING_OP_READ_MULTISHOT", OpReadMultishot, 49},
		{"IORING_SEND_ZC_REPORT_USAGE", SendZCReportUsage, 8},
		{"IORING_NOTIF_USAGE_ZC_COPIED", NotifCopied, 1 << 31},
		{"IOSQE_ASYNC", SQEAsync, 1 << 4},
		{"IOSQE_BUFFER_SELECT", SQEBufferSelect, 1 << 5},
		{"IOSQE_CQE_SKIP_SUCCESS", SQECQESkipSuccess, 1 << 6},
		{"IORING_RECVSEND_POLL_FIRST", RecvPollFirst, 1},
		{"IORING_RECV_MULTISHOT", RecvMultishot, 2},
		{"IORING_RECVSEND_BUNDLE", RecvBundle, 16},
		{"IORING_CQE_F_BUFFER", CQEBuffer, 1},
		{"IORING_CQE_F_MORE", CQEMore, 2},
		{"IORING_CQE_F_SOCK_NONEMPTY", CQESockNonEmpty, 4},
		{"IORING_CQE_F_NOTIF", CQENotif, 8},
		{"IORING_CQE_F_BUF_MORE", CQEBufMore, 16},
		{"IORING_CQE_BUFFER_SHIFT", CQEBufferShift, 16},
		{"IORING_SETUP_CQSIZE", SetupCQSize, 1 << 3},
		{"IORING_SETUP_CLAMP", SetupClamp, 1 << 4},
		{"IORING_SETUP_SUBMIT_ALL", SetupSubmitAll, 1 << 7},
		{"IORING_SETUP_COOP_TASKRUN", SetupCoopTaskrun, 1 << 8},
		{"IORING_SETUP_TASKRUN_FLAG", SetupTaskrunFlag, 1 << 9},
		{"IORING_SETUP_SQE128", SetupSQE128, 1 << 10},
		{"IORING_SETUP_CQE32", SetupCQE32, 1 << 11},
		{"IORING_SETUP_NO_SQARRAY", SetupNoSQArray, 1 << 16},
		{"IORING_SETUP_SINGLE_ISSUER", SetupSingleIssuer, 1 << 12},
		{"IORING_SETUP_DEFER_TASKRUN", SetupDeferTaskrun, 1 << 13},
		{"IORING_FEAT_SINGLE_MMAP", FeatSingleMmap, 1},
		{"IORING_FEAT_NODROP", FeatNoDrop, 2},
		{"IORING_FEAT_EXT_ARG", FeatExtArg, 1 << 8},
		{"IORING_FEAT_RECVSEND_BUNDLE", FeatBundle, 1 << 14},
		{"IORING_ENTER_GETEVENTS", enterGetEvents, 1},
		{"IORING_ENTER_EXT_ARG", enterExtArg, 8},
		{"IORING_SQ_CQ_OVERFLOW", sqCQOverflow, 2},
		{"IORING_SQ_TASKRUN", sqTaskrun, 4},
		{"IORING_REGISTER_BUFFERS", registerBuffers, 0},
		{"IORING_UNREGISTER_BUFFERS", unregisterBuffers, 1},
		{"IORING_OFF_PBUF_RING", offPbuf, 0x80000000},
		{"IORING_OFF_PBUF_SHIFT", offPbufShift, 16},
		{"IORING_REGISTER_PBUF_RING", registerPbufRing, 22},
		{"IORING_UNREGISTER_PBUF_RING", unregisterPbufRing, 23},
		{"IORING_REGISTER_SYNC_CANCEL", registerSyncCancel, 24},
		{"IORING_REGISTER_PBUF_STATUS", registerPbufStatus, 26},
		{"IORING_ASYNC_CANCEL_ALL", cancelAll, 1},
		{"IORING_ASYNC_CANCEL_ANY", cancelAny, 4},
		{"IOU_PBUF_RING_MMAP", PbufMmap, 1},
		{"IOU_PBUF_RING_INC", PbufInc, 2},
		{"IORING_OFF_SQ_RING", offSQRing, 0},
		{"IORING_OFF_CQ_RING", offCQRing, 0x8000000},
		{"IORING_OFF_SQES", offSQEs, 0x10000000},
	}
}

func TestLayouts(t *testing.T) {
	for _, l := range layouts() {
		if l.got != l.want {
			t.Errorf("struct %s %s: %d, the kernel has %d", l.structure, l.field, l.got, l.want)
		}
	}
}

func TestConstants(t *testing.T) {
	for _, c := range constants() {
		if c.got != c.want {
			t.Errorf("%s: %d, the kernel has %d", c.name, c.got, c.want)
		}
	}
}
