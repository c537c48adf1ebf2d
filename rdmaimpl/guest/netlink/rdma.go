package netlink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Numbers of rdma/rdma_netlink.h, which golang.org/x/sys does not export.
const (
	rdmaClientNLDEV = 5 // RDMA_NL_NLDEV

	rdmaGet     = 1 // RDMA_NLDEV_CMD_GET
	rdmaNewLink = 3 // RDMA_NLDEV_CMD_NEWLINK
	rdmaDelLink = 4 // RDMA_NLDEV_CMD_DELLINK

	rdmaAttrIndex    = 1  // RDMA_NLDEV_ATTR_DEV_INDEX
	rdmaAttrName     = 2  // RDMA_NLDEV_ATTR_DEV_NAME
	rdmaAttrNetDev   = 51 // RDMA_NLDEV_ATTR_NDEV_NAME
	rdmaAttrLinkType = 65 // RDMA_NLDEV_ATTR_LINK_TYPE

	rdmaMaxNameBytes = 63 // IB_DEVICE_NAME_MAX without its final zero
)

// Kinds of software RDMA links.
const (
	RXE = "rxe" // RoCE v2 over UDP
	SIW = "siw" // iWARP over TCP
)

// ErrNoDevice means there is no RDMA device of that name.
var ErrNoDevice = errors.New("no such RDMA device")

// AddRDMA makes the RDMA device name over a network interface, as `rdma link
// add NAME type KIND netdev NETDEV` does. Needs CAP_NET_ADMIN and the driver of
// that kind; a kernel with modules loads it when it can.
func AddRDMA(name, kind, netdev string) error {
	if name == "" || len(name) > rdmaMaxNameBytes {
		return fmt.Errorf("RDMA device name %q: must have 1 to %d bytes", name, rdmaMaxNameBytes)
	}
	r := newRequest(rdmaType(rdmaNewLink), 0)
	r.text(rdmaAttrName, name).text(rdmaAttrLinkType, kind).text(rdmaAttrNetDev, netdev)
	err := r.do(unix.NETLINK_RDMA, nil)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPROTONOSUPPORT) {
		return fmt.Errorf("add RDMA link %s of type %s over %s: %w: the kernel has no rdma_%s (try: modprobe rdma_%s)", name, kind, netdev, err, kind, kind)
	}
	if err != nil {
		return fmt.Errorf("add RDMA link %s of type %s over %s: %w", name, kind, netdev, err)
	}
	return nil
}

// RemoveRDMA removes a device that AddRDMA made. Needs CAP_NET_ADMIN.
func RemoveRDMA(name string) error {
	index, err := rdmaIndex(name)
	if err != nil {
		return err
	}
	if err := newRequest(rdmaType(rdmaDelLink), 0).u32(rdmaAttrIndex, index).do(unix.NETLINK_RDMA, nil); err != nil {
		return fmt.Errorf("remove RDMA link %s: %w", name, err)
	}
	return nil
}

// rdmaIndex returns the kernel's number of an RDMA device.
func rdmaIndex(name string) (index uint32, err error) {
	found := false
	err = newRequest(rdmaType(rdmaGet), unix.NLM_F_DUMP).do(unix.NETLINK_RDMA, func(b []byte) {
		var at uint32
		var called string
		attributes(b, func(kind uint16, v []byte) {
			switch {
			case kind == rdmaAttrIndex && len(v) == 4:
				at = binary.NativeEndian.Uint32(v)
			case kind == rdmaAttrName:
				called = string(bytes.TrimRight(v, "\x00"))
			}
		})
		if called == name {
			index, found = at, true
		}
	})
	if err != nil {
		return 0, fmt.Errorf("list RDMA devices: %w", err)
	}
	if !found {
		return 0, fmt.Errorf("RDMA device %s: %w", name, ErrNoDevice)
	}
	return index, nil
}

func rdmaType(command uint16) uint16 { return rdmaClientNLDEV<<10 | command }
