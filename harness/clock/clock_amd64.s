#include "textflag.h"

// func Ticks() uint64
//
// RDTSCP waits for every earlier instruction, LFENCE keeps every later one
// from starting: one primitive is fit for both ends of an interval.
TEXT ·Ticks(SB), NOSPLIT, $0-8
	RDTSCP
	LFENCE
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
