"""The processor: which search, how many threads, and many clouds at once."""
