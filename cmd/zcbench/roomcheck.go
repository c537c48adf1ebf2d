//go:build !cgo

package main

// checksRoom tells whether too little address space is an error of ours: without C
// nothing of this program runs before Go's run-time fails.
const checksRoom = false
