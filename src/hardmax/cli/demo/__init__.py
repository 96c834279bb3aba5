"""The parts of `hardmax demo`."""
