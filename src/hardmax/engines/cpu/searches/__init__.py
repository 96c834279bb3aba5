"""Ways to hold a contest, each with the answer of `contest.score_all`, each sooner somewhere."""
