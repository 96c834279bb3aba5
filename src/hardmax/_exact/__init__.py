"""Integers and fractions: attended sets, events, positions, the solver. No floats in here."""
