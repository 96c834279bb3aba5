"""Reviews as the paper reads them: cleaning, words, lemmas, the vocabulary, and 128 ids for each review.

Every step is what the authors did, also where we would do otherwise: capitals stay, negation is deleted, the vocabulary
has seen the test reviews, and padding is a word.
"""
