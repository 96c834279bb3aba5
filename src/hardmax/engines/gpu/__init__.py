"""A graphics card: torch and triton are imported in this room alone."""
