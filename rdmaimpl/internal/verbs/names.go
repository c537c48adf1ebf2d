package verbs

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// isProvider says whether file is the provider of that name: librxe-rdmav34.so.
func isProvider(file, name string) bool {
	return strings.HasPrefix(filepath.Base(file), "lib"+name+"-")
}

// RDMACore returns the release of rdma-core that libibverbs is of, such as 44.0,
// from its file libibverbs.so.1.14.44.0; empty where the file does not say.
func (d Device) RDMACore() string {
	file, err := filepath.EvalSymlinks(d.Library)
	if err != nil {
		return ""
	}
	parts := strings.SplitN(filepath.Base(file), ".", 5)
	if len(parts) < 5 {
		return ""
	}
	return parts[4]
}

// gidText writes a GID, and the IPv4 address of one that maps it.
func gidText(raw [16]byte) string {
	return netip.AddrFrom16(raw).String()
}

// gid is an entry of a port's table.
type gid struct {
	index int
	raw   [16]byte
	kind  string // RoCE v2, IB/RoCE v1, or empty where the kernel does not say
}

// ipv4 returns the IPv4 address a GID maps.
func (g gid) ipv4() ([4]byte, bool) {
	a := netip.AddrFrom16(g.raw)
	if !a.Is4In6() {
		return [4]byte{}, false
	}
	return a.Unmap().As4(), true
}

// chooseGID prefers an IPv4-mapped GID of RoCE v2, then any IPv4-mapped one, then
// the first. A link-local GID resolves only where its interface has IPv6.
func chooseGID(table []gid) (gid, error) {
	best, score := gid{}, 0
	for _, g := range table {
		s := 1
		if _, mapped := g.ipv4(); mapped {
			s = 2
			if strings.Contains(g.kind, "v2") {
				s = 3
			}
		}
		if s > score {
			best, score = g, s
		}
	}
	if score == 0 {
		return gid{}, fmt.Errorf("the port has no GID: give its network interface an IPv4 address")
	}
	return best, nil
}

func gidList(table []gid) string {
	var parts []string
	for _, g := range table {
		parts = append(parts, fmt.Sprintf("%d is %s", g.index, gidText(g.raw)))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
