package guest

import (
	"fmt"
	"os"
)

// Hidden first arguments by which this program takes another part.
const (
	superviseArg = "__guest-supervise"
	initArg      = "__guest-init"
)

// Hook takes over the process, and never returns, when this program was started
// as a guest's supervisor or as its init. Otherwise it does nothing. It must run
// before anything else in main, and in TestMain of tests that start guests.
func Hook() {
	if len(os.Args) < 2 {
		return
	}
	switch {
	case os.Args[1] == superviseArg:
		if err := supervise(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "zcbench guest supervisor: %v\n", err)
			os.Exit(1)
		}
		os.Exit(0)
	case os.Args[1] == initArg && os.Getpid() == 1 && len(os.Args) > 2:
		InitMain(os.Args[2])
		os.Exit(0) // not reached: InitMain powers the guest off
	}
}
