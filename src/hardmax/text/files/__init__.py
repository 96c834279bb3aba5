"""A model as a folder, as a card, on the Hub; a folder replaced such that one is always there."""
