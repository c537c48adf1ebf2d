//go:build cgo && !noverbs

package verbs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sysClass is where the kernel describes RDMA devices.
const sysClass = "/sys/class/infiniband"

// gidKind reads the type of a GID, which libibverbs gives only since version 32.
func gidKind(device string, port, index int) string {
	text, err := os.ReadFile(filepath.Join(sysClass, device, "ports", fmt.Sprint(port), "gid_attrs", "types", fmt.Sprint(index)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// rxeRemedy says how to get a device, knowing what this kernel has.
func rxeRemedy() string {
	if _, err := os.Stat("/sys/module/rdma_rxe"); err == nil {
		return "rdma_rxe is loaded but has no link: as root `rdma link add rxe0 type rxe netdev IFACE`, or " + guestRemedy
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err == nil {
		dir := filepath.Join("/lib/modules", strings.TrimSpace(string(release)))
		if found, _ := filepath.Glob(filepath.Join(dir, "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko*")); len(found) > 0 {
			return remedyDevice
		}
	}
	return "this kernel has no rdma_rxe module: " + guestRemedy
}

const guestRemedy = "run `zcbench guest build` for a guest with a soft-RoCE device"
