package netlink

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// maxNameBytes is IFNAMSIZ without its final zero.
const maxNameBytes = unix.IFNAMSIZ - 1

// AddDummy makes a dummy interface: one that is up without any hardware and
// drops what it is told to send elsewhere. mtu is in bytes. Needs CAP_NET_ADMIN.
func AddDummy(name string, mac net.HardwareAddr, mtu int) error {
	if len(name) == 0 || len(name) > maxNameBytes {
		return fmt.Errorf("interface name %q: must have 1 to %d bytes", name, maxNameBytes)
	}
	r := newRequest(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	r.raw(make([]byte, unix.SizeofIfInfomsg)).text(unix.IFLA_IFNAME, name)
	r.u32(unix.IFLA_MTU, uint32(mtu))
	if mac != nil {
		r.attr(unix.IFLA_ADDRESS, mac)
	}
	r.nested(unix.IFLA_LINKINFO, func(r *request) { r.text(unix.IFLA_INFO_KIND, "dummy") })
	if err := r.do(unix.NETLINK_ROUTE, nil); err != nil {
		return fmt.Errorf("add dummy interface %s: %w", name, err)
	}
	return nil
}

// Up brings an interface up. Needs CAP_NET_ADMIN.
func Up(name string) error {
	index, err := indexOf(name)
	if err != nil {
		return err
	}
	info := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(info[4:], index)
	binary.NativeEndian.PutUint32(info[8:], unix.IFF_UP)
	binary.NativeEndian.PutUint32(info[12:], unix.IFF_UP) // what of the flags to change
	if err := newRequest(unix.RTM_NEWLINK, 0).raw(info).do(unix.NETLINK_ROUTE, nil); err != nil {
		return fmt.Errorf("bring interface %s up: %w", name, err)
	}
	return nil
}

// AddAddress gives an interface an IPv4 address with its prefix. Needs
// CAP_NET_ADMIN.
func AddAddress(name string, prefix netip.Prefix) error {
	if !prefix.Addr().Is4() {
		return fmt.Errorf("address %s: only IPv4 is done here", prefix)
	}
	index, err := indexOf(name)
	if err != nil {
		return err
	}
	head := make([]byte, unix.SizeofIfAddrmsg)
	head[0] = unix.AF_INET
	head[1] = byte(prefix.Bits())
	binary.NativeEndian.PutUint32(head[4:], index)
	ip := prefix.Addr().AsSlice()
	r := newRequest(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL).raw(head)
	r.attr(unix.IFA_LOCAL, ip).attr(unix.IFA_ADDRESS, ip)
	if err := r.do(unix.NETLINK_ROUTE, nil); err != nil {
		return fmt.Errorf("give interface %s the address %s: %w", name, prefix, err)
	}
	return nil
}

func indexOf(name string) (uint32, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, fmt.Errorf("find interface %s: %w", name, err)
	}
	return uint32(i.Index), nil
}
