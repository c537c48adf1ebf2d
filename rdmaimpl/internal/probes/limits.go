package probes

import (
	"fmt"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

func limits() []probe.Check {
	return []probe.Check{{
		Sort: record.LimitFound, Family: family, Name: "rdma-max-inline", Unit: "B", Source: "ibv_create_qp(3), max_inline_data",
		Help:    "Bytes of a payload that a device takes inline: devices do not say, so queue pairs are asked for until one is refused.",
		Seconds: checkSeconds, Run: maxInline,
	}}
}

// maxInline is the limit of the first active device; the evidence has that of
// every one.
func maxInline() record.Finding {
	names, err := verbs.Devices()
	if err != nil {
		return failed(err)
	}
	found := onDevice(func(c *verbs.Context) record.Finding {
		n, err := c.MaxInline()
		if err != nil {
			return failed(err)
		}
		return record.Finding{Verdict: record.LimitIs, Value: int64(n), Class: class(c)}
	})
	var each []string
	for _, name := range names {
		each = append(each, name+" "+inlineOf(name))
	}
	found.Evidence = joined(each)
	return found
}

func inlineOf(name string) string {
	c, err := verbs.Open(name)
	if err != nil {
		return err.Error()
	}
	n, err := c.MaxInline()
	if e := c.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("(%s): %d B", c.Provider, n)
}
