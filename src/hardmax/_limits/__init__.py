"""Kinds of limits, clusters, certificates, radius."""
