//go:build race

package uringimpl

// raceDetector tells that this build has the race detector, which maps memory of
// its own.
const raceDetector = true
