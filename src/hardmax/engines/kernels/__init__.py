"""Loops in numba: no checks, no Python objects, no fastmath. What they decide is proved by `hardmax.engines.bounds`."""
