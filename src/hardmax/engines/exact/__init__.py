"""Integers and fractions: who attends to whom, for how long, and where everybody is. No floats in here."""
