"""Who attends to whom in a batch of clouds: found by a kernel on the CPU, by padded products on a GPU."""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from hardmax.train.clouds import Clouds
from hardmax.train.kernels import TIED, choose, count_attended, gather_means, list_attended, scatter_back

# Scores that differ by less than this many roundings of the tokens' own numbers are a tie.
_ROUNDINGS = 16


@dataclass(frozen=True, eq=False)
class Attended:
    """Token i attends to `members[starts[i]:starts[i + 1]]`, with shares that add up to 1."""

    clouds: Clouds
    starts: torch.Tensor
    members: torch.Tensor
    shares: torch.Tensor

    @cached_property
    def only(self) -> torch.Tensor:
        """The token that each token attends to if it is a single one, else -1."""
        single = self.starts[1:] - self.starts[:-1] == 1
        return torch.where(single, self.members[self.starts[:-1]], TIED)

    @property
    def is_leader(self) -> torch.Tensor:
        """Which tokens attend to themselves alone: the leaders."""
        return self.only == torch.arange(len(self.only), device=self.only.device)

    def final(self, leads: torch.Tensor) -> torch.Tensor:
        """Which tokens attend to a leader alone, and so do for ever."""
        return (self.only != TIED) & leads[self.only.clamp(min=0)]

    def settled(self, leads: torch.Tensor) -> bool:
        """Whether nothing changes ever again."""
        return bool(self.final(leads).all())

    def means(self, tokens: torch.Tensor) -> torch.Tensor:
        """The mean of what each token attends to."""
        if tokens.is_cuda:
            return torch.zeros_like(tokens).index_add_(0, self._rows, self._weights(tokens) * tokens[self.members])
        means = torch.empty_like(tokens)
        gather_means(tokens.numpy(), self.clouds.offsets, *self._arrays, means.numpy())
        return means

    def hand_back(self, grad: torch.Tensor) -> torch.Tensor:
        """What each token gets from the gradients of those who attend to it."""
        if grad.is_cuda:
            return torch.zeros_like(grad).index_add_(0, self.members, self._weights(grad) * grad[self._rows])
        back = torch.empty_like(grad)
        scatter_back(grad.numpy(), self.clouds.offsets, *self._arrays, back.numpy())
        return back

    @property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.starts.numpy(), self.members.numpy(), self.shares.numpy()

    @cached_property
    def _rows(self) -> torch.Tensor:
        sizes = self.starts[1:] - self.starts[:-1]
        return torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)

    def _weights(self, like: torch.Tensor) -> torch.Tensor:
        return self.shares.to(like)[:, None]


def find_attended(
    tokens: torch.Tensor, clouds: Clouds, metric: np.ndarray | None, before: Attended | None, leads: torch.Tensor
) -> Attended:
    """The attended sets of one layer; tokens that were final at the layer `before` keep theirs."""
    if tokens.is_cuda:
        return _find_on_device(tokens, clouds, metric)
    points = np.ascontiguousarray(tokens.numpy().T, dtype=np.float64)
    directions = points if metric is None else metric @ points
    slack = _ROUNDINGS * torch.finfo(tokens.dtype).eps
    if before is None:
        pending, chosen = np.ones(len(tokens), dtype=np.bool_), np.empty(len(tokens), dtype=np.int64)
    else:
        pending, chosen = ~before.final(leads).numpy(), before.only.numpy().copy()
    choose(directions, points, clouds.offsets, pending, slack, chosen)
    sizes = np.ones(len(tokens), dtype=np.int64)
    if (chosen == TIED).any():
        count_attended(directions, points, clouds.offsets, chosen, slack, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    members = chosen
    if starts[-1] > len(tokens):
        members = np.empty(starts[-1], dtype=np.int64)
        list_attended(directions, points, clouds.offsets, chosen, slack, starts, members)
    return _share(clouds, torch.from_numpy(starts), torch.from_numpy(members))


def _find_on_device(tokens: torch.Tensor, clouds: Clouds, metric: np.ndarray | None) -> Attended:
    """The same on a GPU. Everybody is asked again: it costs less there than finding out whom to ask."""
    if not len(tokens):
        nobody = torch.zeros(0, dtype=torch.int64, device=tokens.device)
        return _share(clouds, nobody.new_zeros(1), nobody)
    sizes = np.diff(clouds.offsets)
    columns = np.arange(sizes.max(initial=0))
    mask = torch.from_numpy(columns < sizes[:, None]).to(tokens.device)
    places = torch.from_numpy(np.minimum(clouds.offsets[:-1, None] + columns, max(len(tokens) - 1, 0))).to(
        tokens.device
    )
    rows = torch.where(mask[:, :, None], tokens.double()[places], 0.0)
    directions = rows if metric is None else rows @ torch.as_tensor(metric.T).to(rows)
    scores = (directions @ rows.transpose(1, 2)).masked_fill(~mask[:, None, :], -torch.inf)
    slack = _ROUNDINGS * torch.finfo(tokens.dtype).eps * directions.norm(dim=2) * rows.norm(dim=2).amax(1, keepdim=True)
    hits = (scores >= scores.amax(2, keepdim=True) - slack[:, :, None]) & mask[:, :, None]
    cloud, giver, member = hits.nonzero(as_tuple=True)  # by cloud, then by giver: in the order of the tokens
    counts = torch.bincount(places[cloud, giver], minlength=len(tokens))
    return _share(clouds, torch.nn.functional.pad(counts.cumsum(0), (1, 0)), places[cloud, member])


def _share(clouds: Clouds, starts: torch.Tensor, members: torch.Tensor) -> Attended:
    """Members share by their multiplicities."""
    if len(members) == len(starts) - 1:
        return Attended(clouds, starts, members, torch.ones(len(members), dtype=torch.float64, device=members.device))
    often = torch.from_numpy(clouds.counts).to(members.device)[members]
    sizes = starts[1:] - starts[:-1]
    rows = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
    totals = torch.zeros(len(sizes), dtype=torch.float64, device=often.device).index_add_(0, rows, often)
    return Attended(clouds, starts, members, often / totals[rows])
