"""Loops over the bytes of many texts, in numba: no checks, no Python objects, no fastmath."""
