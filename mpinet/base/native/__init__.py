"""Native code: kernels and rules by their addresses, without the compiler that made them."""
