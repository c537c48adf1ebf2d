package main

import "regexp"

// The kernel bounds names of RDMA devices (IB_DEVICE_NAME_MAX, 64 with the NUL
// that ends them) and of network interfaces (IFNAMSIZ, 16), and lets them hold
// more than these letters; nobody's do. What becomes part of a path in /sys or of
// a netlink message holds no slash, and is no option of another program.
var (
	rdmaName      = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$`)
	interfaceName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$`)
)

// checkDevices refuses what cannot be the name of a device.
func checkDevices(f runFlags) error {
	if f.device != "" && !rdmaName.MatchString(f.device) {
		return fail(exitUsage, "--device %q: want the name of an RDMA device, such as mlx5_0, of up to 63 letters, digits, _, . and -; ls /sys/class/infiniband lists them", f.device)
	}
	if f.softRoCE != "" && !interfaceName.MatchString(f.softRoCE) {
		return fail(exitUsage, "--soft-roce %q: want the name of a network interface, such as eth0, of up to 15 letters, digits, _, . and -; ip link lists them", f.softRoCE)
	}
	return nil
}
