"""From clouds to trajectories."""
