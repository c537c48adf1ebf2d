// Package netlink makes network interfaces and RDMA links over the kernel's
// netlink sockets, without iproute2. Layouts are those of linux/rtnetlink.h,
// linux/if_link.h and rdma/rdma_netlink.h.
package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	alignTo    = 4
	headerSize = unix.SizeofNlMsghdr
	// receiveBytes is enough for any one datagram the kernel sends here.
	receiveBytes = 64 << 10
)

// request is one netlink message in the making.
type request struct{ b []byte }

// newRequest starts a message of a type, with flags beside REQUEST and ACK.
func newRequest(kind, flags uint16) *request {
	r := &request{b: make([]byte, headerSize, 256)}
	binary.NativeEndian.PutUint16(r.b[4:], kind)
	binary.NativeEndian.PutUint16(r.b[6:], flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	binary.NativeEndian.PutUint32(r.b[8:], 1) // sequence
	return r
}

func (r *request) raw(b []byte) *request {
	r.b = append(r.b, b...)
	for len(r.b)%alignTo != 0 {
		r.b = append(r.b, 0)
	}
	return r
}

// attr appends one attribute.
func (r *request) attr(kind uint16, value []byte) *request {
	r.b = binary.NativeEndian.AppendUint16(r.b, uint16(unix.SizeofNlAttr+len(value)))
	r.b = binary.NativeEndian.AppendUint16(r.b, kind)
	return r.raw(value)
}

func (r *request) text(kind uint16, s string) *request {
	return r.attr(kind, append([]byte(s), 0))
}

func (r *request) u32(kind uint16, v uint32) *request {
	return r.attr(kind, binary.NativeEndian.AppendUint32(nil, v))
}

// nested appends an attribute that holds those that fill adds.
func (r *request) nested(kind uint16, fill func(*request)) *request {
	at := len(r.b)
	r.attr(kind|unix.NLA_F_NESTED, nil)
	fill(r)
	binary.NativeEndian.PutUint16(r.b[at:], uint16(len(r.b)-at))
	return r
}

// do sends the message over a socket of a protocol and hands every answer's
// payload to each. It returns the kernel's error number as unix.Errno.
func (r *request) do(protocol int, each func(payload []byte)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return fmt.Errorf("open a netlink socket of protocol %d: %w", protocol, err)
	}
	defer unix.Close(fd)
	binary.NativeEndian.PutUint32(r.b, uint32(len(r.b)))
	if err := unix.Sendto(fd, r.b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("send a netlink request: %w", err)
	}
	buf := make([]byte, receiveBytes)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("receive a netlink answer: %w", err)
		}
		if done, err := answers(buf[:n], each); done || err != nil {
			return err
		}
	}
}

// answers walks the messages of one datagram; done after the last of all.
func answers(b []byte, each func([]byte)) (done bool, err error) {
	for len(b) >= headerSize {
		size := int(binary.NativeEndian.Uint32(b))
		if size < headerSize || size > len(b) {
			return true, fmt.Errorf("netlink answer of %d bytes in a datagram of %d", size, len(b))
		}
		payload := b[headerSize:size]
		switch binary.NativeEndian.Uint16(b[4:]) {
		case unix.NLMSG_DONE:
			return true, nil
		case unix.NLMSG_ERROR:
			if len(payload) < 4 {
				return true, errors.New("netlink error without a number")
			}
			if errno := -int32(binary.NativeEndian.Uint32(payload)); errno != 0 {
				return true, unix.Errno(errno)
			}
			return true, nil
		default:
			if each != nil {
				each(payload)
			}
		}
		b = b[min(aligned(size), len(b)):]
	}
	return false, nil
}

// attributes walks a run of attributes.
func attributes(b []byte, each func(kind uint16, value []byte)) {
	for len(b) >= unix.SizeofNlAttr {
		size := int(binary.NativeEndian.Uint16(b))
		if size < unix.SizeofNlAttr || size > len(b) {
			return
		}
		each(binary.NativeEndian.Uint16(b[2:])&^unix.NLA_F_NESTED, b[unix.SizeofNlAttr:size])
		b = b[min(aligned(size), len(b)):]
	}
}

func aligned(n int) int { return (n + alignTo - 1) &^ (alignTo - 1) }
