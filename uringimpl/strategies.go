// Package uringimpl holds the receive strategies: how bytes get from a socket
// into memory the application may look at, and how that memory comes back. Most
// speak io_uring; epoll-read and go-net are the familiar yardsticks outside it.
package uringimpl

import "github.com/zcbench/zcbench/harness"

// Strategies lists every strategy of this package, one line each.
func Strategies() []harness.Strategy {
	return []harness.Strategy{
		ringFixed,
		ringBundle,
		ringInc,
		ringIncBundle,
		provideLegacy,
		slot,
		readFixed,
		heap,
		epollRead,
		goNet,
	}
}
