package rdmaimpl

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/zcbench/zcbench/rdmaimpl/guest/netlink"
)

// AddSoftRoCE makes a soft-RoCE device over a network interface, loading the
// driver if it is a module, and returns its name and what removes it again.
// Needs root.
func AddSoftRoCE(netdev string) (device string, remove func() error, err error) {
	device = fmt.Sprintf("zcrxe%d", os.Getpid()%100000)
	if err = netlink.AddRDMA(device, netlink.RXE, netdev); err != nil {
		// The driver may be a module that nobody has loaded yet.
		out, loadErr := exec.Command("modprobe", "rdma_rxe").CombinedOutput()
		if loadErr == nil {
			err = netlink.AddRDMA(device, netlink.RXE, netdev)
		} else {
			err = fmt.Errorf("%w (modprobe rdma_rxe: %w %s)", err, loadErr, strings.TrimSpace(string(out)))
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("make a soft-RoCE device over %s: %w; it takes root, the driver rdma_rxe, and an interface that is up and has an address; a guest needs none of that: zcbench guest build", netdev, err)
	}
	return device, func() error {
		if err := netlink.RemoveRDMA(device); err != nil {
			return fmt.Errorf("remove the soft-RoCE device %s: %w", device, err)
		}
		return nil
	}, nil
}
