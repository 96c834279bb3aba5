"""Which points lie well inside a polytope."""

from hardmax.compiling import spread

ROWS = 1024  # a task for a thread


@spread(lambda places, *_: -(-len(places) // ROWS))
def keep_well_inside(first, last, places, centre, square, facets, depth, marked):
    """Clear the mark of every marked place that is not inside by `depth`: beyond a facet (normal, offset) moved in.

    Places nearer to the centre than the root of `square` are known to be inside.
    """
    count, dimension = places.shape
    for i in range(first * ROWS, min(last * ROWS, count)):
        if not marked[i]:
            continue
        away = 0.0
        for axis in range(dimension):
            away += (places[i, axis] - centre[axis]) ** 2
        if away <= square:
            continue
        for f in range(len(facets)):
            beyond = facets[f, dimension]
            for axis in range(dimension):
                beyond += facets[f, axis] * (places[i, axis] - centre[axis])
            if beyond > -depth:
                marked[i] = False
                break
