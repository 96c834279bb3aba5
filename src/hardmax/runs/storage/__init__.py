"""Runs as files: documents, each field checked, with a digest."""
