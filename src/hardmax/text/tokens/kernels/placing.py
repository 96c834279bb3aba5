"""Where the known tokens of one text stand."""

from hardmax.compiling import njit


@njit
def place_tokens(standing, count, cuts, begins, slots, places):
    """Write the first and last character of the first `count` tokens: of token v to row `slots[v]`, which moves on.

    Piece p starts at character `begins[p]`; a character is a letter, so it is over after as many as it has letters.
    """
    tokens, firsts, lasts = standing
    for i in range(count):
        row, last = slots[tokens[i]], lasts[i]
        slots[tokens[i]] = row + 1
        places[row, 0] = begins[min(firsts[i], last)]
        places[row, 1] = begins[last] + cuts[last] - (cuts[last - 1] if last else 0)
