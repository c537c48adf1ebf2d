//go:build !cgo || noverbs

package verbs

import (
	"errors"
	"strings"
	"testing"
)

// Every way in says what is missing.
func TestWithoutCgoSaysWhatToInstall(t *testing.T) {
	_, devices := Devices()
	_, open := Open("")
	_, null := OpenNull()
	var c *Context
	_, window := c.OpenWindow(Config{})
	_, complete := c.OpenComplete(Config{})
	_, connect := c.Connect(ConnectConfig{})
	_, verify := c.Verify(Config{}, 1)
	_, aging := c.OpenAging(AgingConfig{})
	_, send := c.CopySend(Config{}, 1)
	_, private := c.CopyPrivate(CallConnect, 1, 0)
	for name, err := range map[string]error{
		"Load": Load(), "LoadCM": LoadCM(), "Devices": devices, "Open": open, "OpenNull": null, "OpenWindow": window,
		"OpenComplete": complete, "Connect": connect, "Verify": verify, "OpenAging": aging,
		"CopySend": send, "CopyPrivate": private,
	} {
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "libibverbs-dev") {
			t.Errorf("%s: %v, want what to install", name, err)
		}
	}
}
