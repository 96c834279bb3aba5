"""Which points lie inside."""
