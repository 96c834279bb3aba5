"""Texts with labels: from files, from the Hub, or made up with a known answer."""
