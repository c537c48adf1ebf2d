//go:build cgo && noverbsheaders && !noverbs

package verbs

import (
	"errors"
	"strings"
	"testing"
)

// Built where the headers are not installed, the binary says so.
func TestWithoutHeadersSaysWhatToInstall(t *testing.T) {
	for name, err := range map[string]error{"Load": Load(), "LoadCM": LoadCM()} {
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "headers") || !strings.Contains(err.Error(), "libibverbs-dev") {
			t.Errorf("%s: %v, want what to install", name, err)
		}
	}
	if _, err := Open(""); !errors.Is(err, ErrUnavailable) {
		t.Errorf("opening a device: %v", err)
	}
}
