"""What a model knows of words: which speak most for a class, and which stand where another stands."""
