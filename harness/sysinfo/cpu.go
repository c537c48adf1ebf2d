package sysinfo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const cpuinfo = "proc/cpuinfo"

// cpuModel returns the model name; ARM kernels give numbers instead.
func cpuModel(t tree) (string, error) {
	s, err := t.raw(cpuinfo)
	if err != nil {
		return "", err
	}
	for _, key := range []string{"model name", "uarch", "cpu"} {
		if v, ok := lookup(s, key); ok {
			return strings.Join(strings.Fields(v), " "), nil
		}
	}
	implementer, ok1 := lookup(s, "CPU implementer")
	part, ok2 := lookup(s, "CPU part")
	if ok1 && ok2 {
		return "implementer " + implementer + " part " + part, nil
	}
	return "", errors.New("/proc/cpuinfo names no model")
}

// cpuFlags returns the flags of the first CPU (x86 only).
func cpuFlags(t tree) ([]string, error) {
	v, err := t.keyed(cpuinfo, "flags")
	return strings.Fields(v), err
}

func tscInvariant(t tree) (string, error) {
	flags, err := cpuFlags(t)
	if err != nil {
		return "", err
	}
	if slices.Contains(flags, "constant_tsc") && slices.Contains(flags, "nonstop_tsc") {
		return "yes", nil
	}
	return "no", nil
}

func cpusAllowed(t tree) (string, error) {
	const name = "proc/self/status"
	v, err := t.keyed(name, "Cpus_allowed_list")
	if err != nil {
		return "", err
	}
	n, err := countList(v)
	if err != nil {
		return "", fmt.Errorf("/%s: %w", name, err)
	}
	return fmt.Sprintf("%d (%s)", n, v), nil
}

// governor returns the frequency governors in use, most machines have one.
func governor(t tree) (string, error) {
	paths, err := filepath.Glob(filepath.Join(t.root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	if err != nil {
		return "", err
	}
	var names []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			continue // the CPU went offline
		}
		names = append(names, strings.TrimSpace(string(b)))
	}
	if len(names) == 0 {
		return "", errors.New("no frequency driver (usual in a virtual machine)")
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", "), nil
}

// turbo reads the two switches kernels have: no_turbo is inverted.
func turbo(t tree) (string, error) {
	for _, sw := range []struct{ name, on string }{
		{"sys/devices/system/cpu/intel_pstate/no_turbo", "0"},
		{"sys/devices/system/cpu/cpufreq/boost", "1"},
	} {
		if v, err := t.text(sw.name); err == nil {
			if v == sw.on {
				return "on", nil
			}
			return "off", nil
		}
	}
	return "", errors.New("no switch for it in /sys (usual in a virtual machine)")
}

func smt(t tree) (string, error) {
	v, err := t.text("sys/devices/system/cpu/smt/active")
	switch {
	case err != nil:
		return "", err
	case v == "1":
		return "on", nil
	}
	control, err := t.text("sys/devices/system/cpu/smt/control")
	if err != nil || control == "off" {
		return "off", nil
	}
	return "off (" + control + ")", nil
}

// mitigations sorts the CPU faults the kernel knows by what it does about
// them; those that do not affect the CPU are left out.
func mitigations(t tree) (string, error) {
	dir := "sys/devices/system/cpu/vulnerabilities"
	entries, err := os.ReadDir(filepath.Join(t.root, dir))
	if err != nil {
		return "", fmt.Errorf("no /%s", dir)
	}
	var mitigated, vulnerable, unknown []string
	for _, e := range entries {
		v, err := t.text(filepath.Join(dir, e.Name()))
		switch {
		case err != nil || v == "Not affected":
		case strings.HasPrefix(v, "Mitigation") || strings.Contains(v, "Mitigation:"):
			mitigated = append(mitigated, e.Name())
		case strings.HasPrefix(v, "Vulnerable"):
			vulnerable = append(vulnerable, e.Name())
		default:
			unknown = append(unknown, e.Name())
		}
	}
	var parts []string
	for _, p := range []struct {
		word  string
		names []string
	}{{"mitigated", mitigated}, {"vulnerable", vulnerable}, {"unknown", unknown}} {
		if len(p.names) > 0 {
			parts = append(parts, p.word+": "+strings.Join(p.names, " "))
		}
	}
	if cmdline, err := t.text("proc/cmdline"); err == nil && slices.Contains(strings.Fields(cmdline), "mitigations=off") {
		parts = append(parts, "mitigations=off")
	}
	if len(parts) == 0 {
		return "not affected", nil
	}
	return strings.Join(parts, "; "), nil
}
