package main

import (
	"runtime"
	"runtime/debug"

	"github.com/zcbench/zcbench/harness/record"
)

// release is the version of this source tree.
const release = "0.1.0"

func version() string {
	if c := tool().Commit; c != "" {
		return release + " (" + c + ")"
	}
	return release
}

func tool() record.Tool {
	t := record.Tool{Version: release, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			t.Commit = s.Value[:12] + t.Commit
		case s.Key == "vcs.modified" && s.Value == "true":
			t.Commit += "+changes"
		}
	}
	return t
}
