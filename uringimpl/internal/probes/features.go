package probes

import (
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

func features() []probe.Check {
	var out []probe.Check
	for _, f := range []struct {
		family string
		memory int64 // bytes they may map
		list   []feature
	}{
		{"uring", 0, setupFeatures()}, {"uring", 0, requestFeatures()}, {"uring", 0, groupFeatures()},
		{"memory", 2 << 30, memoryFeatures()}, {"memory", 0, counterFeatures()},
	} {
		for _, x := range f.list {
			out = append(out, x.check(f.family, f.memory))
		}
	}
	return out
}

// setupFeatures are flags of io_uring_setup, each tried by a receive on a ring
// that has it.
func setupFeatures() []feature {
	setup := func(name string, flags uint32, since, help string) feature {
		return feature{name, "io_uring_setup(2), Linux " + since, help, func() (string, error) {
			g := openRig("the set-up flag", 8, 16, flags)
			g.receives("receive", ring.OpRecv, nil)
			return g.ended("a receive of 200 bytes on such a ring")
		}}
	}
	return []feature{
		setup("uring", 0, "5.1", "Everything of io_uring here needs it."),
		setup("setup-coop-taskrun", ring.SetupCoopTaskrun, "5.19", "Completions do not interrupt the thread."),
		setup("setup-single-issuer", ring.SetupSingleIssuer, "6.0", "One thread submits; the kernel leaves out locks."),
		setup("setup-defer-taskrun", ring.SetupSingleIssuer|ring.SetupDeferTaskrun, "6.1", "Completions are made when they are waited for: what the strategies here ask for."),
		setup("setup-no-sqarray", ring.SetupNoSQArray, "6.6", "Submissions need no index array."),
		setup("setup-sqe128", ring.SetupSQE128, "5.19", "Requests of 128 bytes, which no strategy here needs."),
		setup("setup-cqe32", ring.SetupCQE32, "5.19", "Completions of 32 bytes, which no strategy here needs."),
	}
}
