"""Loops over the rows of a cloud, in numba: no checks, no Python objects, no fastmath."""
