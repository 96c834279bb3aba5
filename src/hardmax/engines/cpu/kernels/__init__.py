"""Loops in numba: no checks, no Python objects, no fastmath. `hardmax.engines.floats.bounds` proves them."""
