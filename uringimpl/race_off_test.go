//go:build !race

package uringimpl

const raceDetector = false
