"""What would change an answer: other words in the text (flipping), or another model (editing, comparing)."""
