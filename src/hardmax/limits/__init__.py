"""Infinitely many layers: where every token ends, what kind of point that is, and the proof."""
