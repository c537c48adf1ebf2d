package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// closingTime is what an interrupted zcbench takes at most to end what it is at,
// write down what it has and clean up.
const closingTime = 2 * time.Second

// interruptible returns a context that the first Ctrl-C or SIGTERM ends, and the end
// of the terminal, unless nohup(1) has that ignored. Further
// ones change nothing while zcbench closes down, so that children, devices and
// temporary files are cleaned up; should that not come to its end, they kill it.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	of := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		of = append(of, syscall.SIGHUP)
	}
	signal.Notify(signals, of...)
	go func() {
		<-signals
		cancel()
		time.Sleep(closingTime)
		signal.Reset(of...)
	}()
	return ctx, cancel
}
