// Package guest gives RDMA verbs to a machine without RDMA: a throw-away
// user-mode-linux kernel with a soft-RoCE device, built once from the
// distribution's kernel source and booted in about a second, as an ordinary
// process without root, KVM or modules.
//
// Three processes take part, all of them this program: the host side (Start,
// Exec), a supervisor that outlives it just long enough to leave nothing
// behind, and the guest's init, which runs the commands it is sent. Programs
// that start guests must call Hook first thing in main.
//
// The guest sees the host's root file system read-only and one writable scratch
// directory. Started by root, its kernel runs as nobody. Where the host has
// Landlock, the kernel's own process cannot write elsewhere either.
package guest
