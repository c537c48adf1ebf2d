package probes

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// features are what a machine has of RDMA, and the faults known of its library.
func features() []probe.Check {
	return []probe.Check{
		feature("rdma-libibverbs", "libibverbs", "Without it there are no verbs at all.", loads(verbs.Load, "libibverbs opened")),
		feature("rdma-librdmacm", "librdmacm", "Connections with private data need it.", loads(verbs.LoadCM, "librdmacm opened")),
		feature("rdma-device", "ibv_open_device(3)", "Posts are measured on it.", func() record.Finding { return onDevice(described) }),
		feature("rdma-wr-ex", "ibv_wr_post(3)", "Requests built by setters, as wr-ex and inline-ex do.", func() record.Finding { return onDevice(hasSetters) }),
		feature("rdma-send-sge", "ibv_post_send(3)", "", func() record.Finding { return onDevice(sends(verbs.SGE)) }),
		feature("rdma-send-inline", "ibv_post_send(3), IBV_SEND_INLINE", "", func() record.Finding { return onDevice(sends(verbs.InlineBorrowed)) }),
		setterFault("rdma-core-inline-list", "ibv_wr_set_inline_data_list sends other bytes than it is given, with a successful completion.",
			func(s verbs.Setters) error { return s.InlineList }),
		setterFault("rdma-core-sge-list", "ibv_wr_set_sge_list sends other bytes than it is given where parts differ in length.",
			func(s verbs.Setters) error { return s.SGEList }),
	}
}

const family = "rdma"

func feature(name, source, help string, run func() record.Finding) probe.Check {
	return probe.Check{Sort: record.FeatureFound, Family: family, Name: name, Source: source, Help: help, Seconds: checkSeconds, Run: run}
}

func loads(load func() error, evidence string) func() record.Finding {
	return func() record.Finding {
		if err := load(); err != nil {
			return failed(err)
		}
		return record.Finding{Verdict: record.Supported, Evidence: evidence}
	}
}

// class of the device, as far as it can be told from inside: in a guest the
// runner knows better.
func class(c *verbs.Context) string {
	if c.Soft() {
		return "soft"
	}
	return "hardware"
}

func described(c *verbs.Context) record.Finding {
	return record.Finding{Verdict: record.Supported, Class: class(c), Evidence: fmt.Sprintf("%s, provider %s, %s, GID %d %s %s",
		c.Name, c.Provider, c.LinkLayer, c.GIDIndex, c.GID, c.GIDType)}
}

func hasSetters(c *verbs.Context) record.Finding {
	if !c.HasEx() {
		return record.Finding{Verdict: record.Unsupported, Class: class(c), Reason: c.Provider + " makes no queue pair for ibv_wr_*"}
	}
	return sends(verbs.SendWREx)(c)
}

// sends lets a lane send a few messages, of which every byte is checked.
func sends(lane verbs.Lane) func(*verbs.Context) record.Finding {
	const batches, bytes = 4, 32
	return func(c *verbs.Context) record.Finding {
		cfg := verbs.Config{Lane: lane, Batch: 2, SGEs: 1, Bytes: bytes, Batches: batches, Deadline: waitTime}
		n, err := c.Verify(cfg, 1)
		if err != nil {
			f := failed(err)
			f.Class = class(c)
			return f
		}
		return record.Finding{Verdict: record.Supported, Class: class(c), Evidence: fmt.Sprintf("%d messages of %d B arrived whole", n, bytes)}
	}
}

// setterFault is a fault of the provider's list setters.
func setterFault(name, help string, wrong func(verbs.Setters) error) probe.Check {
	return probe.Check{
		Sort: record.FaultFound, Family: family, Name: name, Help: help, Source: "rdma-core before 64, provider rxe", Seconds: checkSeconds,
		Run: func() record.Finding {
			return untestable(onDevice(func(c *verbs.Context) record.Finding {
				s, err := c.ProbeSetters()
				if err != nil {
					return failed(err)
				}
				if err := wrong(s); err != nil {
					f := failed(err)
					if f.Verdict == record.Inconclusive {
						return record.Finding{Verdict: record.Present, Class: class(c), Evidence: err.Error()}
					}
					return f
				}
				return record.Finding{Verdict: record.Absent, Class: class(c), Evidence: "two parts of 64 and 32 B arrived whole"}
			}))
		},
	}
}

// untestable turns what a device does not do into what cannot be found out.
func untestable(f record.Finding) record.Finding {
	if f.Verdict == record.Unsupported {
		f.Verdict = record.Untestable
	}
	return f
}

// joined lists figures of devices.
func joined(parts []string) string { return strings.Join(parts, "; ") }
