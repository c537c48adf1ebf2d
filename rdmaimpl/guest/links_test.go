package guest_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"

	"github.com/zcbench/zcbench/rdmaimpl/guest/netlink"
	"golang.org/x/sys/unix"
)

// linksPart makes and removes interfaces and links in the guest, where it may.
func linksPart([]string) error {
	if err := netlink.AddDummy("d7", nil, 1500); err != nil {
		return err
	}
	if err := netlink.AddDummy("d7", nil, 1500); !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("the same interface again: %w", err)
	}
	if err := errors.Join(netlink.Up("d7"), netlink.AddAddress("d7", netip.MustParsePrefix("198.18.7.1/24"))); err != nil {
		return err
	}
	i, err := net.InterfaceByName("d7")
	if err != nil || i.Flags&net.FlagUp == 0 || i.MTU != 1500 {
		return fmt.Errorf("interface %+v: %w", i, err)
	}
	addrs, err := i.Addrs()
	if err != nil || len(addrs) != 1 || addrs[0].String() != "198.18.7.1/24" {
		return fmt.Errorf("addresses %v: %w", addrs, err)
	}
	for _, kind := range []string{netlink.RXE, netlink.SIW} {
		name := kind + "7"
		if err := netlink.AddRDMA(name, kind, "d7"); err != nil {
			return err
		}
		if _, err := os.Stat("/sys/class/infiniband/" + name); err != nil {
			return err
		}
		if err := netlink.RemoveRDMA(name); err != nil {
			return err
		}
		if _, err := os.Stat("/sys/class/infiniband/" + name); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("after its removal %s: %w", name, err)
		}
	}
	return wrongLinks()
}

func wrongLinks() error {
	if err := netlink.RemoveRDMA("rxe7"); !errors.Is(err, netlink.ErrNoDevice) {
		return fmt.Errorf("remove a device twice: %w", err)
	}
	if err := netlink.AddRDMA("x7", "none", "d7"); !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("a link of an unknown type: %w", err)
	}
	if err := netlink.AddRDMA("x7", netlink.RXE, "none"); !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("a link over no interface: %w", err)
	}
	if err := netlink.Up("none"); err == nil {
		return errors.New("an interface that is none was brought up")
	}
	return nil
}

func TestLinks(t *testing.T) {
	g := startGuest(t)
	if r := run(t, g, part(g, "part-links")); r.Err() != nil {
		t.Errorf("%v: %s", r.Err(), r.Stderr)
	}
}
