"""What comes out: `simulate`, when it stops, what it keeps, and the `Trajectory` that it gives back."""
