"""Which rows of a large cloud are judged: those most likely wrong first."""

from collections.abc import Sequence

import numpy as np

from soak.truth import ExactCloud

_BLOCK = 2**22
# Rows that are scored in floats to find the doubtful ones.
_SCORED = 8192


def doubtful_rows(cloud: ExactCloud, answers: Sequence[int], most: int, rng: np.random.Generator) -> list[int]:
    """Up to `most` rows: where plain floats disagree with the answer (one attended token for each row), where leads are
    smallest, the longest and the shortest tokens, the first and the last, and some at random."""
    n = len(cloud)
    chosen = np.asarray(answers)
    scored = np.arange(n) if n <= _SCORED else np.sort(rng.choice(n, _SCORED, replace=False))
    deficits, leads = _deficits_and_leads(cloud, scored, chosen[scored])
    norms = np.abs(cloud.floats).max(axis=1)
    by_norm = np.argsort(norms, kind="stable")
    disagree = scored[deficits > 0]
    share = most // 4
    ordered = [
        disagree[np.argsort(-deficits[deficits > 0], kind="stable")][:share],
        [0, n - 1],
        by_norm[:8],
        by_norm[-8:],
        # Whoever is seldom attended to, or by few, is easily overlooked: itself and one who attends to it.
        np.unique(chosen)[:share],
        scored[np.argsort(leads, kind="stable")][:share],
        rng.permutation(n)[:most],
    ]
    rows = dict.fromkeys(int(row) for part in ordered for row in part)
    return list(rows)[:most]


def _deficits_and_leads(cloud: ExactCloud, rows: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much each row's answer is behind the best, and the best ahead of the next, relative to the look."""
    looks = _float_looks(cloud, rows)
    deficits, leads = np.empty(len(rows)), np.empty(len(rows))
    step = max(1, _BLOCK // len(cloud))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        scores = looks[part] @ cloud.floats.T
        every = np.arange(len(scores))
        best_at = scores.argmax(axis=1)
        best = scores[every, best_at]
        deficits[part] = best - scores[every, chosen[part]]
        scores[every, best_at] = -np.inf
        leads[part] = best - scores.max(axis=1)
    return deficits, leads


def _float_looks(cloud: ExactCloud, rows: np.ndarray) -> np.ndarray:
    looks = cloud.looks(rows.tolist())
    units = np.maximum(np.abs(looks).max(axis=1), 1).tolist()
    return np.array([[int(x) / unit for x in row] for row, unit in zip(looks.tolist(), units, strict=True)])
