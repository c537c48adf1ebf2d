package sysinfo

import (
	"slices"
	"strings"
)

const none = "none"

// hypervisor says whether a hypervisor is below, by the flag it shows in CPUID,
// and which where the firmware names it.
func hypervisor(t tree) (string, error) {
	s, err := t.raw(cpuinfo)
	if err != nil {
		return "", err
	}
	if v, _ := lookup(s, "vendor_id"); strings.Contains(v, "User Mode Linux") {
		return "user-mode linux", nil
	}
	flags, err := cpuFlags(t)
	if err != nil {
		return "", err
	}
	if !slices.Contains(flags, "hypervisor") {
		return none, nil
	}
	for _, name := range []string{"sys/hypervisor/type", "sys/class/dmi/id/sys_vendor"} {
		if v, err := t.text(name); err == nil && v != "" {
			return "yes (" + v + ")", nil
		}
	}
	return "yes", nil
}

// container says what contains this process, by the marks the tools leave.
func container(t tree) (string, error) {
	for _, mark := range []struct{ name, tool string }{
		{".dockerenv", "docker"}, {"run/.containerenv", "podman"},
	} {
		if t.exists(mark.name) {
			return mark.tool, nil
		}
	}
	if v, err := t.text("run/systemd/container"); err == nil && v != "" {
		return v, nil
	}
	s, err := t.raw("proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for _, tool := range []string{"kubepods", "docker", "libpod", "containerd", "lxc", "garden"} {
		if strings.Contains(s, tool) {
			return tool, nil
		}
	}
	return none, nil
}
