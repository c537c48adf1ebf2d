package record

import "time"

// ProbeSchema is the version of Probe.
const ProbeSchema = 1

// Probe is what one machine can do, as found by trying: the features and limits
// of its interfaces, which known kernel faults it has, and when each API really
// reads the caller's buffer.
type Probe struct {
	Schema   int       `json:"schema"`
	Kernel   string    `json:"kernel"` // release, as uname(2) tells
	Time     time.Time `json:"time"`
	Findings []Finding `json:"findings"`
}

// Sort says what a finding is about.
type Sort string

// Sorts of findings.
const (
	FeatureFound   Sort = "feature"    // supported, unsupported or inconclusive
	LimitFound     Sort = "limit"      // found (Value holds it), unsupported or inconclusive
	FaultFound     Sort = "fault"      // present, absent or untestable
	CopyPointFound Sort = "copy-point" // the name of the step at which the buffer is read, see FindingVerdict
)

// FindingVerdict is what a probe came to.
type FindingVerdict string

// Verdicts of probes.
const (
	Supported    FindingVerdict = "supported"
	Unsupported  FindingVerdict = "unsupported"
	Inconclusive FindingVerdict = "inconclusive" // it did not end in time, or contradicted itself
	LimitIs      FindingVerdict = "found"
	Present      FindingVerdict = "present"
	Absent       FindingVerdict = "absent"
	Untestable   FindingVerdict = "not testable here"
	ReadAtCall   FindingVerdict = "read at the call"    // a change after the call returned does not arrive
	ReadAtPost   FindingVerdict = "read at the post"    // of a prepared request: a change between build and post arrives, later ones do not
	ReadAtBuild  FindingVerdict = "read at the build"   // of a prepared request: a change after the build does not arrive
	ReadLater    FindingVerdict = "read after the post" // a change after the post returned may arrive
)

// Finding is the outcome of one probe.
type Finding struct {
	Sort    Sort           `json:"sort"`
	Family  string         `json:"family"` // uring, rdma, memory, socket
	Name    string         `json:"name"`   // unique in a probe
	Verdict FindingVerdict `json:"verdict"`
	Value   int64          `json:"value,omitempty"` // of a limit
	Unit    string         `json:"unit,omitempty"`
	// Reason says why a feature is unsupported, a fault not testable, a probe inconclusive.
	Reason string `json:"reason,omitempty"`
	// Evidence is what was seen, in figures.
	Evidence string `json:"evidence,omitempty"`
	// Source is the public report, manual page or kernel version behind the probe.
	Source string `json:"source,omitempty"`
	Class  string `json:"class,omitempty"` // of the RDMA device: hardware, soft, guest
	Help   string `json:"help,omitempty"`  // what it means for the reader, in one sentence
	Steps  []Step `json:"steps,omitempty"` // of a copy point
	// Affects lists the cases that a present fault makes wrong, each as
	//   [TRANSPORT] STRATEGY [with PARAM[=VALUE]]
	// such as "ring-inc-bundle" or "udp ring-inc with min_left=0". They are skipped
	// where the fault is present.
	Affects []string `json:"affects,omitempty"`
}

// Step is one place at which a copy point probe changed the caller's buffer.
type Step struct {
	Name    string `json:"name"`    // e.g. "after build, before post"
	Changed int    `json:"changed"` // times the buffer was changed there
	Arrived int    `json:"arrived"` // times the changed bytes arrived
}
