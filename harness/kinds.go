package harness

import "github.com/zcbench/zcbench/scenarios"

// Kinds of workload a strategy may be for, as scenarios name them.
const (
	KindReceive  = scenarios.KindReceive
	KindPostRecv = scenarios.KindPostRecv
	KindPostSend = scenarios.KindPostSend
	KindPayload  = scenarios.KindPayload
	KindConnect  = scenarios.KindConnect
	KindAging    = scenarios.KindAging
)
