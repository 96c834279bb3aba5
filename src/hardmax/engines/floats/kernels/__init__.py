"""Loops over floats: lengths, leads, sums that lose nothing."""
