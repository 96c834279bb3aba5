"""The kinds of tokens of one text, numbered without anything as large as a vocabulary."""

import numpy as np

from hardmax._compile import njit


@njit
def number_kinds(tokens, which, kinds, ids):
    """Give the tokens for which `which` holds the number of their kind, the others -1, in the order of first
    appearance; the kinds are written to `ids`; give back how many there are."""
    size = 2
    while size < 2 * len(tokens):
        size *= 2
    table, many = np.full(size, -1, np.int32), 0
    for i in range(len(tokens)):
        kinds[i] = -1
        if not which[i]:
            continue
        slot = (np.int64(tokens[i]) * 0x9E3779B1 >> 8) & (size - 1)
        while table[slot] >= 0 and ids[table[slot]] != tokens[i]:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], ids[many] = many, tokens[i]
            many += 1
        kinds[i] = table[slot]
    return many
