"""What the authors' code does otherwise than the paper says or than we do: named, so that no number hides it."""

DIFFERENCES = (
    (
        "The step is not constrained.",
        "Their clamp of alpha is not in place, so that alpha may become anything; paper mode leaves it so. Ours is "
        "given, or learned as a logarithm, and positive.",
    ),
    (
        "Nine layers instead of eight.",
        "Their table and their histogram of leaders read the state after one layer more than the model has. The "
        "table here has both; all other numbers are of eight.",
    ),
    (
        "A leader is more than the first index.",
        "They count a token whose attended set begins with itself, so that one that ties with another point counts "
        "too. A leader attends to itself alone. Both ways of counting are in the table.",
    ),
    ("Ties are float equality.", "Here who ties is decided exactly, or in floats under a proof."),
    (
        "Padding is a word.",
        "Reviews are filled up to 128 words with one that is trained like the others, attends, leads, and counts in "
        "the mean. Paper mode does so, too; our models have no padding, but a neutral leader, which says nothing.",
    ),
    (
        "Negation is deleted.",
        "Their stop words include not and no. Our models keep them, and know phrases such as not worth.",
    ),
    (
        "The test part is looked at.",
        "Their vocabulary is made of both parts, and the best epoch is the best on the test part. Paper mode reports "
        "that, and beside it the test accuracy of the epoch that held-out training reviews chose.",
    ),
    (
        "Which reviews are in which part is not known.",
        "The first 70 % of 50,000 reviews are theirs to train on, in an order that was not published. Ours is a "
        "shuffle from a seed.",
    ),
    (
        "Figure 2 without a seed.",
        "Three of its four rows are drawn anew with every run, and its code ignores the metric. Here the inner tokens "
        "follow from seeds; the second and the fourth row are the authors' coordinates.",
    ),
    ("Models are pickles of whole programs.", "They are read here by a list of what is allowed, and never run."),
)
"""Pairs: what is different, and how."""
