"""One training in paper mode, piece by piece, so that several can take turns on a device.

Nothing in an epoch waits for the device: batches are drawn ahead, sums stay there, and on a GPU one step is a graph
that is recorded once and played. The first epoch of a process goes step by step, which warms everything up.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from hardmax.paper.mode.evaluating import evaluate, loss_and_hits
from hardmax.paper.mode.history import ACCURACY, ALL_COLUMNS
from hardmax.paper.mode.network import PaperNetwork, Weights, first_weights
from hardmax.paper.mode.order import draw_order
from hardmax.paper.mode.plan import Plan
from hardmax.paper.mode.reviews_on_device import DeviceReviews
from hardmax.paper.mode.split import split_rows

PIECE = 64  # steps that are asked of the device before it is somebody else's turn


class Training:
    """Weights, the memory of Adam and the history, on the device of the reviews; `done` epochs took `seconds`."""

    def __init__(self, reviews: DeviceReviews, plan: Plan, *, record_graphs: bool = True) -> None:
        self.plan, self.reviews, self.done, self.seconds = plan, reviews, 0, 0.0
        self.is_cuda = reviews.ids.is_cuda
        self.recording = record_graphs and self.is_cuda
        device = reviews.device
        if self.is_cuda:
            torch.cuda.synchronize()  # the reviews were put there in another stream
        self.stream = torch.cuda.Stream() if self.is_cuda else None
        with self.in_stream():
            self.split = split_rows(len(reviews.ids), plan)
            self.judging, self.once = (
                torch.from_numpy(r).to(device, torch.int32) for r in (self.split.judging, self.split.once)
            )
            self.order = draw_order(self.split.training, plan, device)
            self.network = PaperNetwork(first_weights(reviews.words, plan, device), plan)
            self.parameters = list(self.network.parameters())
            self.adam = torch.optim.Adam(self.parameters, lr=plan.learning_rate, fused=True, capturable=self.is_cuda)
            self.best = {name: value.detach().clone() for name, value in self.network.named_parameters()}
            self.best_accuracy = torch.full((), -1.0, device=device)
            self.history = torch.full((plan.epochs, len(ALL_COLUMNS)), torch.nan, device=device)
            # What a step reads and writes besides the weights, always in the same place.
            self.rows = torch.empty_like(self.order.rows[0])
            self.at = torch.zeros(1, dtype=torch.int64, device=device)
            self.sums = torch.zeros(3, device=device)
        self.graphs: dict[bool, Any] = {}
        self.warm = False

    def in_stream(self) -> Any:
        """Work asked for in this block waits for this training alone."""
        return contextlib.nullcontext() if self.stream is None else torch.cuda.stream(self.stream)

    def wait(self) -> None:
        """Until all that was asked for is done."""
        if self.stream is not None:
            self.stream.synchronize()

    def advance(self) -> Iterator[bool]:
        """Train what is left; True is yielded at the end of an epoch, False within one."""
        while self.done < self.plan.epochs:
            compared = self._is_compared()
            with self.in_stream():
                self._begin()
            for first in range(0, self.order.steps, PIECE):
                with self.in_stream():
                    for _ in range(first, min(first + PIECE, self.order.steps)):
                        self._play(compared)
                if first + PIECE < self.order.steps:
                    yield False
            with self.in_stream():
                self._end(compared)
            self.warm = True
            yield True

    def weights(self) -> Weights:
        """The weights as they are now."""
        return {name: value.detach() for name, value in self.network.named_parameters()}

    @torch.no_grad()
    def test_once(self) -> dict[str, float]:
        """Loss and accuracy of the best weights on the reviews that nothing was chosen by, also with hardmax."""
        with self.in_stream():
            network = PaperNetwork(self.best, self.plan)
            soft = evaluate(network, self.reviews, self.once, hard=self.plan.exact).tolist()
            hard = evaluate(network, self.reviews, self.once, hard=True).tolist()
        names = ("loss", "accuracy", "loss_hard", "accuracy_hard")
        return {name: round(value, 6) for name, value in zip(names, soft + hard, strict=True)}

    def _is_compared(self) -> bool:
        every = self.plan.compare_every
        return bool(every) and not self.plan.exact and self.done % every == 0

    def _begin(self) -> None:
        self.rows.copy_(self.order.rows[self.done])
        self.at.zero_()
        self.sums.zero_()

    def _play(self, compared: bool) -> None:
        if not (self.recording and self.warm):
            self.adam.zero_grad(set_to_none=True)
            self._step(compared)
            return
        if compared not in self.graphs:
            self.graphs[compared] = self._record(compared)
        self.graphs[compared].replay()

    def _record(self, compared: bool) -> Any:
        self.adam.zero_grad(set_to_none=True)  # gradients are made anew within the graph
        self.wait()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            self._step(compared)
        return graph

    def _step(self, compared: bool) -> None:
        """One batch: forward, backward, the gradient cut to its largest norm, Adam."""
        rows, shares = (table.index_select(0, self.at).squeeze(0) for table in (self.rows, self.order.shares))
        ids, labels = self.reviews.ids.index_select(0, rows), self.reviews.labels.index_select(0, rows)
        taken = (shares > 0).float()
        hard_loss = self._hard_loss(ids, labels, taken) if compared else self.sums.new_zeros(())
        losses, hits = loss_and_hits(self.network(ids, hard=self.plan.exact), labels)
        (losses * shares).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.plan.largest_norm)
        self.adam.step()
        self.sums += torch.stack(((losses.detach() * taken).sum(), (hits * taken).sum(), hard_loss))
        self.at += 1

    @torch.no_grad()
    def _hard_loss(self, ids: torch.Tensor, labels: torch.Tensor, taken: torch.Tensor) -> torch.Tensor:
        return (loss_and_hits(self.network(ids, hard=True), labels)[0] * taken).sum()

    @torch.no_grad()
    def _end(self, compared: bool) -> None:
        """Measure, write the epoch down, and keep the weights if no earlier ones judged as well."""
        network, row = self.network, self.history[self.done]
        running = self.sums / len(self.split.training)
        row[0:2] = running[0:2]
        row[2:4] = evaluate(network, self.reviews, self.judging, hard=self.plan.exact)
        row[4:5] = network.alpha
        if compared:
            row[5:6] = running[2:3]
            row[6:8] = evaluate(network, self.reviews, self.judging, hard=True)
        better = row[ACCURACY] > self.best_accuracy
        for name, value in network.named_parameters():
            self.best[name].copy_(torch.where(better, value, self.best[name]))
        self.best_accuracy.copy_(torch.where(better, row[ACCURACY], self.best_accuracy))
        self.done += 1
