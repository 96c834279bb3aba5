"""numba when it is needed: compiling, the cache of kernels, threads."""
