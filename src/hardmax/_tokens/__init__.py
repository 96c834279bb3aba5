"""Tokens as numbers: exact, merged, one cloud or many."""
