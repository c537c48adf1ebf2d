package childenv

import (
	"os"
	"testing"
)

func TestDataBytes(t *testing.T) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := dataBytes(string(status)); err != nil || n <= 0 {
		t.Errorf("VmData of this process: %d, %v", n, err)
	}
	for _, bad := range []string{"", "VmData:\tmuch kB\n"} {
		if n, err := dataBytes(bad); err == nil {
			t.Errorf("%q holds %d bytes", bad, n)
		}
	}
}
