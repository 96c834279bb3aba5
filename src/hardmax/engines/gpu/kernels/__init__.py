"""The loops of it in triton."""
