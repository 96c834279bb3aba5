"""Where the known tokens of one text stand."""

from hardmax.compiling import njit


@njit
def place_tokens(standing, count, cuts, begins, slots, places):
    """Write the first and last character of the first `count` tokens: of token v to row `slots[v]`, which moves on.

    Piece p starts at character `begins[p]`; a character is a letter, so it is over after as many as it has letters.
    """
    tokens, sizes, pieces, words, piece_of_word = standing
    for i in range(count):
        last = pieces[i]
        first = last if sizes[i] == 0 else piece_of_word[words[i] - sizes[i] + 1]
        row = slots[tokens[i]]
        slots[tokens[i]] = row + 1
        places[row, 0] = begins[first]
        places[row, 1] = begins[last] + cuts[last] - (cuts[last - 1] if last else 0)
