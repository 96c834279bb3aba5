"""From a text to the tokens that a model knows, with their places."""
