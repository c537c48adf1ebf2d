// This file lets monotonic.go declare a function whose body is in the runtime.
