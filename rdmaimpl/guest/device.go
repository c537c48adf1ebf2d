package guest

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/guest/netlink"
	"golang.org/x/sys/unix"
)

const (
	deviceName = "rxe0"
	netdevName = "d0"
	// netdevMTU is that of jumbo frames, as RoCE networks use them: the device
	// then has its largest MTU, 4096 bytes.
	netdevMTU = 9000
	// deviceWait bounds how long the kernel's workers may take over a GID.
	deviceWait = 5 * time.Second
	devicePoll = time.Millisecond
	// maxGIDs is how many of the device's GIDs are looked at: it has two.
	maxGIDs = 8
)

// netdevMAC is locally administered and fixed, so that GIDs never vary.
var netdevMAC = net.HardwareAddr{0x02, 0x7a, 0x63, 0, 0, 1}

// bringUp makes the network and the RDMA device and waits until it can be used.
func bringUp(address netip.Prefix) (Ready, error) {
	for _, step := range []func() error{
		func() error { return netlink.Up("lo") },
		func() error { return netlink.AddDummy(netdevName, netdevMAC, netdevMTU) },
		func() error { return netlink.AddAddress(netdevName, address) },
		func() error { return netlink.Up(netdevName) },
		func() error { return netlink.AddRDMA(deviceName, netlink.RXE, netdevName) },
	} {
		if err := step(); err != nil {
			return Ready{}, err
		}
	}
	r := Ready{Device: deviceName, NetDev: netdevName, Address: address.Addr()}
	var err error
	if r.GIDIndex, err = waitForGID(address.Addr()); err != nil {
		return r, err
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return r, fmt.Errorf("uname: %w", err)
	}
	r.Kernel = unix.ByteSliceToString(name.Release[:])
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return r, fmt.Errorf("read the time since boot: %w", err)
	}
	r.UptimeNS = now.Nano()
	return r, nil
}

// waitForGID waits until the device's node is there, its port is active and one
// of its GIDs maps the address, and returns that GID's index.
func waitForGID(address netip.Addr) (int, error) {
	port := filepath.Join("/sys/class/infiniband", deviceName, "ports/1")
	why := "the deadline passed"
	for end := time.Now().Add(deviceWait); time.Now().Before(end); time.Sleep(devicePoll) {
		if _, err := os.Stat("/dev/infiniband/uverbs0"); err != nil {
			why = err.Error()
			continue
		}
		state, err := os.ReadFile(filepath.Join(port, "state"))
		if err != nil || !strings.Contains(string(state), "ACTIVE") {
			why = fmt.Sprintf("port state %q", strings.TrimSpace(string(state)))
			continue
		}
		if i, ok := findGID(filepath.Join(port, "gids"), address); ok {
			return i, nil
		}
		why = "no GID maps " + address.String()
	}
	return 0, fmt.Errorf("the RDMA device %s is not usable after %v: %s", deviceName, deviceWait, why)
}

// findGID looks for the GID ::ffff:address in a directory of GIDs.
func findGID(dir string, address netip.Addr) (index int, ok bool) {
	want := netip.AddrFrom16(address.As16())
	for i := range maxGIDs {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			continue // an entry not in use
		}
		if gid, err := netip.ParseAddr(strings.TrimSpace(string(b))); err == nil && gid == want {
			return i, true
		}
	}
	return 0, false
}
