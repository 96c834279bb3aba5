"""Floats with bounds: searches, the active set, certification, the solver."""
