"""The runs of many clouds, by whoever walked them: one by one, or together by a kernel."""
