"""Polytopes, half-spaces and cells: the shapes among which tokens move. Flat, thin and repeated input is welcome."""
