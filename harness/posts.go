package harness

import (
	"fmt"

	"github.com/zcbench/zcbench/harness/record"
)

// Posts are the figures of a window of posts: batches of work requests handed
// to a queue, or connections made.
type Posts struct {
	Calls int64 // posts in the window
	WRs   int64 // work requests in them

	// Times of the posts that were timed in parts, in nanoseconds for all of
	// them; Parts is how many they are. A median is scaled up to them.
	BuildNS, PostNS, DropNS float64
	Parts                   int64
	// Time of the posts that were timed as a whole, and how many they are.
	TotalNS float64
	Whole   int64
	FirstNS float64 // the very first post of the process
	// BlockedNS is for how long a payload's buffer belongs to the post, for one
	// work request; negative: it cannot be told.
	BlockedNS    float64
	CompletionNS []int64 // sorted; of full sends
	ElapsedNS    float64 // of the window, completions included
	Sent         int64   // work requests of the full sends
	SentNS       float64 // and how long they took, waits included

	Counted  bool // the counting shim was there
	Lane     AllocCounts
	Provider AllocCounts
	// LaneCopied and ProviderCopied are payload bytes copied by the lane itself
	// and by the provider's user-space code; the latter is negative where it
	// cannot be told.
	LaneCopied, ProviderCopied int64
	Syscalls                   int64
	HeapHeld, HeapUsed         int64 // bytes of the allocator's mappings, and of live allocations
	Pinned                     int64 // bytes registered with the device
	GoAllocs, GoAllocBytes     int64
	MinorFaults                int64
}

// AllocCounts are calls of the C allocator.
type AllocCounts struct {
	Allocs, Reallocs, Frees int64
	Bytes                   int64 // requested
}

// runPosts runs a trial of a kind that does not receive.
func runPosts(s Strategy, t record.Trial, p Values, rec *record.Record) error {
	o := &Outcome{Trial: t}
	if err := s.Run(t, p, o); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	if o.Skip != nil {
		rec.Status, rec.Error, rec.Remedy = record.Skipped, o.Skip.Reason, o.Skip.Remedy
		return nil
	}
	if o.Posts == nil {
		return fmt.Errorf("%s left no figures", s.Name)
	}
	rec.Fingerprint = o.Work
	rec.Notes = append(rec.Notes, o.Notes...)
	rec.Series = append(rec.Series, o.Series...)
	rec.Window = record.Window{NS: int64(o.Posts.ElapsedNS), MinorFaults: o.Posts.MinorFaults, Syscalls: o.Posts.Syscalls}
	fill(rec, o)
	return nil
}
