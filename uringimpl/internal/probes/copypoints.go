package probes

import (
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
)

// copyPoints are the calls that hand bytes to a socket, each by what it meets
// there: when does it read the caller's buffer?
func copyPoints() []probe.Check {
	var out []probe.Check
	for _, c := range copyCases() {
		out = append(out, c.check())
	}
	return out
}

// copyCase is one call on one kind of socket in one state.
type copyCase struct {
	name  string
	call  copyCall
	kind  copySocket
	state copyState
	help  string
}

func (c copyCase) check() probe.Check {
	family := "uring"
	if c.call.plain != nil {
		family = "socket"
	}
	return probe.Check{
		Sort: record.CopyPointFound, Family: family, Name: c.name, Source: c.call.source, Help: c.help,
		Seconds: 30, Run: func() record.Finding { return c.run(probe.Changes) },
	}
}

const (
	helpCall   = "The buffer is the caller's again when the call returns."
	helpUring  = "In a socket with room the kernel copies within io_uring_enter, but only the completion promises it: leave the buffer alone until then."
	helpFull   = "In a full socket the request waits and the buffer is read later: a buffer reused before the completion sends other bytes."
	helpZC     = "The buffer is the caller's again at the notification, not at the result; over TCP loopback the kernel copies after all."
	helpZCWait = "Bytes that wait for the peer are still in the caller's buffer after the result: only the notification gives it back. Over TCP loopback the kernel copies them when they move on."
	helpZCUnix = "Zero-copy sends are not to be had on local sockets."
)

func copyCases() []copyCase {
	return []copyCase{
		{"copy-send-tcp", callSend, overTCP, withRoom, helpCall},
		{"copy-send-unix", callSend, overUnix, withRoom, helpCall},
		{"copy-write-tcp", callWrite, overTCP, withRoom, helpCall},
		{"copy-write-unix", callWrite, overUnix, withRoom, helpCall},
		{"copy-uring-send-tcp", uringSend, overTCP, withRoom, helpUring},
		{"copy-uring-send-tcp-full", uringSend, overTCP, whenFull, helpFull},
		{"copy-uring-send-unix", uringSend, overUnix, withRoom, helpUring},
		{"copy-uring-send-unix-full", uringSend, overUnix, whenFull, helpFull},
		{"copy-uring-write-tcp", uringWrite, overTCP, withRoom, helpUring},
		{"copy-uring-write-tcp-full", uringWrite, overTCP, whenFull, helpFull},
		{"copy-uring-write-unix", uringWrite, overUnix, withRoom, helpUring},
		{"copy-uring-write-unix-full", uringWrite, overUnix, whenFull, helpFull},
		{"copy-uring-send-zc-tcp", uringSendZC, overTCP, withRoom, helpZC},
		{"copy-uring-send-zc-tcp-queued", uringSendZC, overTCP, whenQueued, helpZCWait},
		{"copy-uring-send-zc-tcp-full", uringSendZC, overTCP, whenFull, helpZCWait},
		{"copy-uring-send-zc-unix", uringSendZC, overUnix, withRoom, helpZCUnix},
	}
}
