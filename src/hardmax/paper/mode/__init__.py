"""Paper mode: the authors' network, trained as they train it, so that every difference of numbers can be attributed."""
