"""Which reviews are trained on, which judge the epochs, and which are looked at once."""

from dataclasses import dataclass

import numpy as np

from hardmax.paper.mode.plan import TRAINING_SHARE, Plan


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of the reviews. In the paper the test reviews are the ones that judge, and nothing is left for the end."""

    training: np.ndarray
    judging: np.ndarray
    once: np.ndarray


def split_rows(reviews: int, plan: Plan) -> Split:
    """The first 70 % are for training, the rest for testing.

    >>> split = split_rows(10, Plan(dimension=2))
    >>> split.training.tolist(), split.judging.tolist(), split.once.tolist()
    ([0, 1, 2, 3, 4, 5, 6], [7, 8, 9], [])
    """
    rows, training = np.arange(reviews), round(reviews * TRAINING_SHARE)
    if not plan.held_out:
        return Split(rows[:training], rows[training:], rows[:0])
    shuffled = np.random.default_rng([plan.seed, 1]).permutation(training)
    held_out = round(training * plan.held_out)
    return Split(np.sort(shuffled[held_out:]), np.sort(shuffled[:held_out]), rows[training:])
