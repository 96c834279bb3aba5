"""Whether what is said to matter does: attributions of words, ours and others', held against the model itself."""
