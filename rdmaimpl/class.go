package rdmaimpl

import (
	"errors"

	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// Classes of what stands behind a figure.
const (
	ClassHardware = "hardware"
	ClassSoft     = "soft"
	ClassGuest    = "guest"
)

// Local looks for an RDMA device on the running kernel, one of a name or, with
// an empty name, the first active one. reason is empty if there is one; class is
// then hardware or soft.
func Local(name string) (class, device, reason, remedy string) {
	if _, err := verbs.Devices(); err != nil {
		return "", "", unavailable(err).Reason, unavailable(err).Remedy
	}
	ctx, err := verbs.Open(name)
	if err != nil {
		return "", "", err.Error(), unavailable(err).Remedy
	}
	d := ctx.Device
	if err := ctx.Close(); err != nil {
		return "", "", err.Error(), ""
	}
	if d.Soft() {
		return ClassSoft, d.Name, "", ""
	}
	return ClassHardware, d.Name, "", ""
}

func unavailable(err error) *verbs.Unavailable {
	var u *verbs.Unavailable
	if errors.As(err, &u) {
		return u
	}
	return &verbs.Unavailable{Reason: err.Error(), Remedy: "see the error"}
}

// Libraries reports whether the verbs libraries can be used at all, which a
// guest needs too.
func Libraries() (reason, remedy string) {
	if err := verbs.Load(); err != nil {
		u := unavailable(err)
		return u.Reason, u.Remedy
	}
	return "", ""
}
