"""Parts of `Dynamics`: metric, value, mask, steps, heads, attention, attended sets."""
