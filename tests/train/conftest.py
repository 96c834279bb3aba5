"""Random ragged batches for the tests of training."""

from collections.abc import Callable

import numpy as np
import pytest

from hardmax.train.clouds import Clouds


@pytest.fixture
def draw_clouds() -> Callable[..., Clouds]:
    """Draws clouds of 1 to `most` tokens, numbered one after the other."""

    def draw(seed: int, clouds: int = 6, most: int = 9, counts: bool = True) -> Clouds:
        rng = np.random.default_rng(seed)
        offsets = np.concatenate([[0], np.cumsum(rng.integers(1, most + 1, clouds))])
        often = rng.integers(1, 4, offsets[-1]) if counts else np.ones(offsets[-1])
        return Clouds(np.arange(offsets[-1]), often.astype(np.float64), offsets)

    return draw
