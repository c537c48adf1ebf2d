// Package rdmaimpl holds the ways of posting work requests and of handing over
// small payloads and connection parameters, over libibverbs and librdmacm.
package rdmaimpl

import "github.com/zcbench/zcbench/harness"

// Strategies lists every strategy of this package, one line each.
func Strategies() []harness.Strategy {
	return []harness.Strategy{
		guard,
		guardReserved,
		guardReused,
		array,
		arrayStack,
		arrayLinked,
		goAppend,
		goArray,
		wrEx,
		inlineOwned,
		inlineOwnedList,
		inlineBorrowed,
		inlineEx,
		sge,
		sgeBounce,
		registerEach,
		wqeCopyModel,
		connectOwned,
		connectBorrowed,
		noPost,
	}
}
