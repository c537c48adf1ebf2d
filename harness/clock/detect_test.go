package clock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	if !HasTSC {
		t.Skip("this architecture has no TSC to detect")
	}
	const good = "flags\t\t: fpu rdtscp constant_tsc nonstop_tsc\n"
	for _, tc := range []struct {
		name, cpuinfo, clocks string
		want, reason          string
	}{
		{"invariant", good + "\n" + good, "tsc kvm-clock\n", SourceTSC, "offers"},
		{"no list", good, "", SourceTSC, "not readable"},
		{"stops in sleep", "flags : rdtscp constant_tsc\n", "tsc\n", SourceMonotonic, "nonstop_tsc"},
		{"second CPU differs", good + "flags : rdtscp nonstop_tsc\n", "tsc\n", SourceMonotonic, "constant_tsc"},
		{"name contained in another", "flags : rdtscp constant_tsc_x nonstop_tsc\n", "tsc\n", SourceMonotonic, "constant_tsc"},
		{"no rdtscp", "flags : constant_tsc nonstop_tsc\n", "tsc\n", SourceMonotonic, "rdtscp"},
		{"marked unstable", good, "hpet acpi_pm\n", SourceMonotonic, "hpet, acpi_pm"},
		{"no flags", "processor : 0\n", "tsc\n", SourceMonotonic, "flags line"},
		{"no file", "", "", SourceMonotonic, "not readable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "proc/cpuinfo", tc.cpuinfo)
			write(t, root, "sys/devices/system/clocksource/clocksource0/available_clocksource", tc.clocks)
			got := Detect(root)
			if got.Source != tc.want || !strings.Contains(got.Reason, tc.reason) {
				t.Errorf("got %+v, want %s because of %q", got, tc.want, tc.reason)
			}
		})
	}
}

// write makes a file under root; empty text makes none.
func write(t *testing.T, root, name, text string) {
	t.Helper()
	if text == "" {
		return
	}
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
