"""Adversarial problems by number: hard clouds, every search of every engine, judged by integers.
See `make soak`."""
