"""What the paper leaves open, answered in numbers: each a figure and a paragraph."""
