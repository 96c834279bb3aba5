"""Batches of small clouds on a GPU beside the same layers in torch; every cloud is checked against
the processor."""

# pyright: reportMissingImports=false
import numpy as np
import torch
from gpu_harness import compare, copy_rate, row, time_of

import hardmax as hm

HALF = hm.Dynamics("1/2")
LAYERS = 8
AT_ONCE = 16_384  # clouds: the fastest of those that were tried
PEERS = {"torch bmm float32": torch.float32, "torch bmm float64": torch.float64}


def vectorised(batch):
    """The layers of a stack of clouds in torch: scores, their maximum, the mean of those who reach
    it."""
    for _ in range(LAYERS):
        scores = batch @ batch.transpose(1, 2)
        chosen = (scores == scores.amax(dim=2, keepdim=True)).to(batch.dtype)
        batch = (batch + 0.5 * (chosen @ batch) / chosen.sum(dim=2, keepdim=True)) / 1.5
    return batch


def disagreements(stack: np.ndarray) -> tuple[int, int]:
    """Of all clouds, those in which the processor says anything else: the tokens to the bit,
    too."""
    both, last = (torch.from_numpy(stack).cuda(), stack), hm.LastOnly()
    ours, truth = (hm.simulate(each, HALF, layers=LAYERS, record=last) for each in both)
    wrong = (ours.at(LAYERS).cpu().numpy() != truth.at(LAYERS)).any(axis=(1, 2))
    wrong |= np.array(ours.settled_at, dtype=object) != np.array(truth.settled_at, dtype=object)
    led = zip(ours.leaders, truth.leaders, strict=True)
    wrong |= np.array([not np.array_equal(mine, its) for mine, its in led])
    return len(wrong), int(wrong.sum())


def distinct(clouds: int, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((clouds, n, d))


def repeating(clouds: int, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Reviews in which 132 words are said n times together."""
    words = distinct(clouds, 132, d, rng)
    said = np.concatenate(
        [np.tile(np.arange(132), (clouds, 1)), rng.integers(0, 132, (clouds, n - 132))], axis=1
    )
    return np.take_along_axis(words, said[:, :, None], axis=1)


def reviews(clouds: int, n: int, d: int, make=distinct, rounds: int = 5) -> list[list]:
    stack = make(clouds, n, d, np.random.default_rng(0))
    tokens = torch.from_numpy(stack).cuda()
    batches = {name: tokens.to(dtype) for name, dtype in PEERS.items()}

    def peer(batch):
        return lambda: [vectorised(part) for part in batch.split(AT_ONCE)]

    contestants = {name: peer(batch) for name, batch in batches.items()} | {
        "hardmax": lambda: hm.simulate(tokens, HALF, layers=LAYERS, record=hm.LastOnly()).at(LAYERS)
    }
    work = f"{clouds} reviews of {n} tokens ({'132 distinct' if make is repeating else 'distinct'}) d {d} 8 layers"
    rows = compare(work, contestants, list(PEERS), rounds, disagreements(stack))
    # Tokens come in and go out, and who leads since when; settled and error for each cloud.
    least = (2 * tokens.nbytes + 8 * clouds * n + 24 * clouds) / copy_rate()
    rows.append(
        row(
            work,
            "copy of the bytes that come in and go out",
            least,
            "hardmax",
            time_of(rows, "hardmax") / least,
        )
    )
    return rows
