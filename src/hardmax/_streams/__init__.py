"""Clouds that come in chunks."""
