//go:build race

package harness

// raceEnabled: the race detector's own memory faults in.
const raceEnabled = true
