"""The kernels in plain Triton: pointers and dots, for sm_80 and every later architecture."""
