"""What floats are worth: the metric in them, how wrong they can be, and the contest as a reference."""
