"""The weights that the authors of the paper published, read without running anything of their file."""
