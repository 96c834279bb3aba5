"""What clustering does for sentiment: the paper's classifier with other numbers of layers.

    python examples/paper/clustering.py ids.npz results.jsonl --lexicon a.txt b.txt [--changes]

`ids.npz` comes from `prepare.py`, a lexicon has one word and a rating a line. A cell is a number
of layers, a dimension and a kind of attention; its orders of batches train together as one batched
network, each with the numbers that `train.py --start fresh --order N` starts from. Every finished
cell becomes one line of the results. Started again with the same file the script goes on where it
stopped; `--minutes` says when to stop. Only torch and numpy are needed.

Without options the cells follow the authors: they train on all training reviews, padding is a word,
and the test reviews are classified after every epoch. With `--changes` 15 % of the training reviews
are held out to choose by, padding is left out, and each cell changes one thing about the layer so
that attention may help. `--test` names another file for what the test reviews say of the epoch
that the held-out reviews choose: to be opened for the change that is chosen by them.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fast_layers import LENGTH, Layer
from torch.nn.functional import embedding, normalize, one_hot
from train import (
    BATCH,
    LARGEST_NORM,
    LEARNING_RATE,
    TEMPERATURE,
    TRAINING_SHARE,
    Network,
    losses_and_hits,
    shares,
)

HELD_OUT = 0.15  # of the training reviews
SHORT = 25  # epochs
MANY_LAYERS = 40
CHUNK = 1024  # reviews classified at once
TOP = 10
PATIENCE = 15  # seconds after which a cell that takes longer than foreseen is given up
WARM_UP = 3  # steps before one is recorded as a graph


@dataclass(frozen=True)
class Cell:
    """One network to train. The defaults are the authors'; the switches below `masked` change the
    layer."""

    layers: int
    d: int
    attention: str = "softmax"  # "hard": gradients pass through the attended points alone;
    # "straight": hard, with the gradient of a softmax at temperature 1
    epochs: int = SHORT
    orders: int = 5
    loss: str = "bce"
    masked: bool = False  # padding is left out, and reviews are held out
    name: str = ""
    falling: bool = False  # temperature falls from 1
    bag: int = 0  # epochs without layers first, then lengths that follow the words' weights
    neutral: bool = False  # one more token, which all may follow and the decoder does not see
    leaders: bool = False  # what is attended to is decoded, not the tokens
    penalty: float = 0.0  # on the logarithm of the number of leaders
    metric: bool = False  # scores are <A x, y> with a learned matrix A


def authors_cells() -> list[Cell]:
    """The cells of the table, in order of what matters first."""
    table = {8: 101, 0: 101, 1: SHORT, 2: SHORT, 32: SHORT}
    dimensions = (2, 4, 8, 16)
    soft = [Cell(k, d, epochs=epochs) for k, epochs in table.items() for d in dimensions]
    hard = [Cell(k, d, "hard") for k in (1, 8) for d in dimensions]
    return soft[:-4] + hard + soft[-4:]


CHANGES: dict[str, dict] = {
    "plain": {},
    "hard": {"attention": "hard"},
    "straight": {"attention": "straight"},
    "falling": {"falling": True},
    "bag": {"bag": 8},
    "bag, hard": {"bag": 8, "attention": "hard"},
    "bag, straight": {"bag": 8, "attention": "straight"},
    "leaders": {"leaders": True, "attention": "straight"},
    "few leaders": {"leaders": True, "attention": "straight", "penalty": 0.1},
    "fewest leaders": {"leaders": True, "attention": "straight", "penalty": 0.5},
    "neutral, hard": {"neutral": True, "attention": "hard"},
    "neutral, straight": {"neutral": True, "attention": "straight"},
    "metric": {"metric": True, "attention": "straight"},
}


def changed_cells() -> list[Cell]:
    """The changes, and networks without layers for each dimension to compare them with."""
    ours: dict[str, Any] = {"epochs": 14, "orders": 3, "loss": "logits", "masked": True}
    changed = [
        Cell(k, d, name=name, **{**ours, **change})
        for d in (2, 16, 4)
        for k in (1, 8)
        for name, change in CHANGES.items()
    ]
    # No kernel does these layers, so that they take longest.
    slow = [cell for cell in changed if cell.layers > 1 and (cell.neutral or cell.metric)]
    none = [Cell(0, d, name="none", **ours) for d in (2, 16, 4)]
    # As many epochs as the bag and the layers after it have together.
    longer = {**ours, "epochs": ours["epochs"] + CHANGES["bag"]["bag"]}
    none += [Cell(0, d, name="none, longer", **longer) for d in (2, 16, 4)]
    return none + [cell for cell in changed if cell not in slow] + slow


class Networks(torch.nn.Module):
    """As many networks as there are orders, side by side: each parameter has their number in
    front."""

    def __init__(self, cell: Cell, start: Network):
        super().__init__()
        self.cell = cell
        self.rows = start.embedding.num_embeddings

        def repeat(value: torch.Tensor) -> torch.nn.Parameter:
            copies = value.detach()[None].repeat(cell.orders, *[1] * value.dim())
            return torch.nn.Parameter(copies)

        self.embedding = repeat(start.embedding.weight)
        self.alpha = repeat(start.alpha[0])
        self.decoder = repeat(start.decoder.weight[0])
        self.bias = repeat(start.decoder.bias[0])
        offsets = torch.arange(cell.orders)[:, None, None] * self.rows
        self.offsets = torch.nn.Buffer(offsets)
        self.temperature = torch.nn.Buffer(torch.tensor(TEMPERATURE))
        self.fast = torch.cuda.is_available()
        if cell.metric:
            self.metric = repeat(torch.eye(cell.d))
        if cell.neutral:
            self.neutral = repeat(torch.full((cell.d,), 3 / cell.d**0.5))

    @torch.no_grad()
    def follow_bag(self, cosine: float = 0.7) -> None:
        """Make words as long as their weight is heavy, without changing any word's logit; learn
        length and direction apart from now on.

        A word keeps the side of the decoder's hyperplane on which it lies; the rest of its direction
        is that of its trained embedding.
        """
        size = self.decoder.norm(dim=1)[:, None]
        along = (self.decoder / size)[:, None]
        # The bias is part of every word's weight: a review is the mean of its words.
        weights = (self.embedding @ self.decoder[:, :, None])[:, :, 0] + self.bias[:, None]
        across = self.embedding - (self.embedding * along).sum(dim=2, keepdim=True) * along
        sideways = (1 - cosine**2) ** 0.5 * normalize(across, dim=2)
        self.embedding.copy_(cosine * weights.sign()[:, :, None] * along + sideways)
        lengths = weights.abs() / (size * cosine)
        self.length = torch.nn.Parameter(lengths.clamp(min=1e-3).log()[:, :, None])
        self.bias.zero_()
        self.alpha.fill_(0.5)

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Starting points of reviews (orders or 1, reviews, words): (orders, reviews, words, d)."""
        places = ids + self.offsets
        z = embedding(places, self.embedding.flatten(0, 1))
        if hasattr(self, "length"):
            z = normalize(z, dim=3) * embedding(places, self.length.flatten(0, 1)).exp()
        return z

    def scores(
        self, z: torch.Tensor, kept: torch.Tensor | None, temperature: torch.Tensor | float = 1.0
    ) -> torch.Tensor:
        """Scores of tokens with each other, and last with the neutral token."""
        keys = self.keys(z)
        asking = z @ self.metric[:, None] if self.cell.metric else z
        scores = (asking / temperature) @ keys.transpose(2, 3)
        if kept is None:
            return scores
        if self.cell.neutral:
            kept = torch.cat((kept, torch.ones_like(kept[..., :1])), dim=2)
        return scores.masked_fill(~kept[:, :, None], -torch.inf)

    def keys(self, z: torch.Tensor) -> torch.Tensor:
        """What may be attended to: the tokens and the neutral one, of which the decoder sees
        nothing."""
        if not self.cell.neutral:
            return z
        along = normalize(self.decoder, dim=1)
        silent = self.neutral - (self.neutral * along).sum(dim=1, keepdim=True) * along
        return torch.cat((z, silent[:, None, None].expand_as(z[:, :, :1])), dim=2)

    def attend(
        self, z: torch.Tensor, kept: torch.Tensor | None, attention: str
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """What each token attends to, and the weights where they are formed."""
        keys = self.keys(z)
        if attention == "softmax":
            weights = self.scores(z, kept, self.temperature).softmax(dim=3)
            return weights @ keys, weights
        scores = self.scores(z.detach() if attention == "hard" else z, kept)
        chosen = scores.argmax(dim=3)
        if attention == "hard":
            return keys.gather(2, chosen[..., None].expand_as(z)), None
        soft = scores.softmax(dim=3)
        weights = one_hot(chosen, keys.shape[2]) + soft - soft.detach()
        return weights @ keys, weights

    def forward(
        self,
        ids: torch.Tensor,
        kept: torch.Tensor | None = None,
        attention: str | None = None,
        layers: int | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the positive class and the penalty of each review, (orders, reviews)."""
        z, weights = self.embed(ids), None
        kind = attention or self.cell.attention
        layers = self.cell.layers if layers is None else layers
        decodes_leaders = self.cell.leaders and layers > 0
        for _ in range(layers - 1 if decodes_leaders else layers):
            z = self.advance(z, kept, kind)
        if decodes_leaders:
            z, weights = self.attend(z, kept, kind)
        return self.decode(mean(z, kept)), self.crowd(weights, kept)

    def is_fast(self, z: torch.Tensor) -> bool:
        """Whether a kernel does the layer."""
        changed = self.cell.neutral or self.cell.metric
        return self.fast and not changed and z.shape[2] == LENGTH

    def advance(self, z: torch.Tensor, kept: torch.Tensor | None, kind: str) -> torch.Tensor:
        """The next layer's points."""
        if self.is_fast(z):
            moved: Any = Layer.apply(z, self.alpha, self.temperature, kept, kind)
            return moved
        attended, _ = self.attend(z, kept, kind)
        alpha = self.alpha[:, None, None, None]
        return (z + alpha * attended) / (1 + alpha)

    def decode(self, pooled: torch.Tensor) -> torch.Tensor:
        return (pooled @ self.decoder[:, :, None])[..., 0] + self.bias[:, None]

    def crowd(self, weights: torch.Tensor | None, kept: torch.Tensor | None) -> torch.Tensor:
        """The penalty times the logarithm of the number of leaders: the inverse of the sum of the
        squares of their shares."""
        if weights is None or not self.cell.penalty:
            return self.bias.new_zeros(())
        followed = mean(weights, kept)
        return -self.cell.penalty * followed.square().sum(dim=2).log()


def mean(z: torch.Tensor, kept: torch.Tensor | None) -> torch.Tensor:
    """Mean over the words that are kept; zero where none is."""
    if kept is None:
        return z.mean(dim=2)
    share = kept / kept.sum(dim=2, keepdim=True).clamp(min=1)
    return (z * share[..., None]).sum(dim=2)


def draws(count: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
    """The order of the reviews in each epoch, as `train.py` draws it for training and test reviews
    in turn."""

    def number() -> int:
        return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())

    while True:
        number()
        yield torch.randperm(count, generator=torch.Generator().manual_seed(number()))
        for _ in range(2):
            number()


class Data:
    """Reviews on the device, their parts, and which words have a rating."""

    def __init__(self, held: dict[str, np.ndarray], lexicons: list[Path], device: str):
        self.ids = torch.from_numpy(held["ids"].astype(np.int64)).to(device)
        self.labels = torch.from_numpy(held["labels"]).float().to(device)
        self.rows, self.words = int(held["rows"]), held["words"].tobytes().decode().split("\n")
        self.split = int(len(self.ids) * TRAINING_SHARE)
        self.rated = {path.stem: self.find(ratings(path)).to(device) for path in lexicons}

    def find(self, rated: dict[str, float]) -> torch.Tensor:
        """Which words of the vocabulary have a rating other than zero."""
        return torch.tensor([rated.get(word.lower(), 0.0) != 0 for word in self.words])

    def parts(self, cell: Cell) -> dict[str, slice]:
        """Training reviews and those that are classified after every epoch."""
        if not cell.masked:
            return {"train": slice(self.split), "test": slice(self.split, None)}
        kept = int(self.split * (1 - HELD_OUT))
        return {"train": slice(kept), "validation": slice(kept, self.split)}

    def kept(self, cell: Cell, ids: torch.Tensor) -> torch.Tensor | None:
        """Words that take part: all, or all but padding."""
        return ids > 0 if cell.masked else None


def ratings(path: Path) -> dict[str, float]:
    """Words and ratings, separated by a tab."""
    lines = (line.split("\t") for line in path.read_text("utf-8").splitlines() if "\t" in line)
    return {word: float(rating) for word, rating, *_ in lines}


class Training:
    """Trains the networks of one cell epoch by epoch; on a GPU one step is recorded and
    replayed."""

    def __init__(self, networks: Networks, data: Data, generators: list[torch.Generator]):
        self.networks, self.cell, self.data = networks, networks.cell, data
        device = data.ids.device
        self.on_gpu = device.type == "cuda"
        self.count = data.parts(self.cell)["train"].stop
        self.orders = [draws(self.count, generator) for generator in generators]
        self.shares = shares(self.count).to(device)
        steps = len(self.shares)
        self.chosen = torch.zeros(self.cell.orders, steps * BATCH, dtype=torch.int64).to(device)
        self.number = torch.zeros(1, dtype=torch.int64, device=device)
        self.totals = torch.zeros(2, self.cell.orders, device=device)
        self.optimizer = torch.optim.Adam(
            networks.parameters(), lr=LEARNING_RATE, fused=self.on_gpu, capturable=self.on_gpu
        )
        self.stream = torch.cuda.Stream() if self.on_gpu else None
        self.graph: torch.cuda.CUDAGraph | None = None

    def step(self) -> None:
        """One batch of every order."""
        batches = self.chosen.view(self.cell.orders, -1, BATCH)
        batch = batches.index_select(1, self.number)[:, 0]
        share = self.shares.index_select(0, self.number)
        ids, labels = self.data.ids[batch], self.data.labels[batch]
        self.optimizer.zero_grad(set_to_none=True)
        logits, penalty = self.networks(ids, self.data.kept(self.cell, ids))
        losses, hits = losses_and_hits(logits, labels, self.cell.loss)
        ((losses + penalty) * share).sum().backward()
        clip(list(self.networks.parameters()))
        self.optimizer.step()
        found = torch.stack(((losses.detach() * share).sum(dim=1), (hits * (share > 0)).sum(dim=1)))
        self.totals.add_(found)
        self.number.add_(1)

    def epoch(self) -> tuple[list[float], list[float]]:
        """Go once through the training reviews; loss and accuracy of each order."""
        if self.stream:
            self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream) if self.on_gpu else nullcontext():
            drawn = torch.stack([next(order) for order in self.orders])
            self.chosen[:, : self.count] = drawn.to(self.chosen.device)
            self.number.zero_()
            self.totals.zero_()
            for number in range(len(self.shares)):
                if self.on_gpu and self.graph is None and number == WARM_UP:
                    self.record()
                self.graph.replay() if self.graph else self.step()
            losses, hits = self.totals.tolist()
        mean_losses = [loss / len(self.shares) for loss in losses]
        return mean_losses, [hit / self.count for hit in hits]

    def record(self) -> None:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            self.step()
        self.graph = graph


def clip(parameters: list[torch.nn.Parameter]) -> None:
    """Shorten the gradient of every order to the largest norm."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norms = [torch.linalg.vector_norm(gradient.flatten(1), dim=1) for gradient in gradients
             if gradient.dim() > 1]  # fmt: skip
    norms += [gradient.abs() for gradient in gradients if gradient.dim() == 1]
    norm = torch.linalg.vector_norm(torch.stack(norms), dim=0)
    factor = (LARGEST_NORM / (norm + 1e-6)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factor.view(-1, *[1] * (gradient.dim() - 1)))


@torch.no_grad()
def accuracy(networks: Networks, data: Data, part: slice, **options) -> list[float]:
    """Share of the reviews that each order classifies correctly."""
    hits = torch.zeros(networks.cell.orders, device=data.ids.device)
    for ids, labels in chunks(data, part):
        logits = networks(ids, data.kept(networks.cell, ids), **options)[0]
        hits += ((logits > 0) == (labels > 0.5)).float().sum(dim=1)
    return rounded(hits / len(data.ids[part]))


def chunks(data: Data, part: slice) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Some reviews after the other, and their labels."""
    ids, labels = data.ids[part], data.labels[part]
    for chosen, label in zip(ids.split(CHUNK), labels.split(CHUNK), strict=True):
        yield chosen[None], label


def rounded(values: torch.Tensor) -> list[float]:
    """Numbers for JSON."""
    return [round(value, 5) for value in values.tolist()]


# ------------------------------------------------------------------------------------- leaders


@torch.no_grad()
def follow(
    networks: Networks, ids: torch.Tensor, kept: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Final points under hardmax, and which tokens lead at the first layer and in the end."""
    z = networks.embed(ids)
    first = leading(networks, z, ids, kept)
    for _ in range(networks.cell.layers):
        z = networks.advance(z, kept, "hard")
    return z, first, leading(networks, z, ids, kept)


def leading(
    networks: Networks, z: torch.Tensor, ids: torch.Tensor, kept: torch.Tensor | None
) -> torch.Tensor:
    """Whether a token attends to itself, or to a token of the same word."""
    chosen = networks.scores(z, kept).argmax(dim=3)
    named = torch.cat((ids, torch.full_like(ids[..., :1], -1)), dim=2)  # -1: the neutral token
    named = named.expand(len(z), -1, -1)
    leads = named.gather(2, chosen) == ids
    return leads if kept is None else leads & kept


def first_of_word(ids: torch.Tensor) -> torch.Tensor:
    """Whether no earlier token of the review is the same word."""
    same = ids[..., :, None] == ids[..., None, :]
    return ~same.tril(diagonal=-1).any(dim=3)


@torch.no_grad()
def describe(networks: Networks, data: Data, part: slice) -> list[dict]:
    """For each order what its leaders are, and how well reviews are read without them, without
    their followers, with other numbers of layers and with decoders of their own."""
    cell, device = networks.cell, data.ids.device
    leads = torch.zeros(cell.orders, data.rows, dtype=torch.int64, device=device)
    words = torch.zeros(data.rows, dtype=torch.int64, device=device)
    since_start = torch.zeros(cell.orders, device=device)
    squares = torch.zeros(cell.orders, device=device)
    names = ("hard", "leaders alone", "as many at random", "without leaders", "without as many")
    hits = {name: torch.zeros(cell.orders, device=device) for name in names}
    generator = torch.Generator(device).manual_seed(0)
    for ids, labels in chunks(data, part):
        kept = data.kept(cell, ids)
        _, first, last = follow(networks, ids, kept)
        present = torch.ones_like(last) if kept is None else kept.expand_as(last)
        once = first_of_word(ids) & present
        new = last & once
        flat = (ids + networks.offsets)[new]
        leads += torch.bincount(flat, minlength=leads.numel()).view_as(leads)
        words += torch.bincount(ids[once[:1]], minlength=data.rows)
        since_start += (first & new).sum(dim=(1, 2))
        squares += new.sum(dim=2).square().sum(dim=1)
        other = at_random(last, present, generator)
        parts = (present, last, other, present & ~last, present & ~other)
        for name, left in zip(names, parts, strict=True):
            logits = networks(ids, left, attention="hard")[0]
            hits[name] += ((logits > 0) == (labels > 0.5)).float().sum(dim=1)
    count, total = len(data.ids[part]), leads.sum(dim=1)
    number = total / count
    found = {
        "leaders": number,
        "deviation": (squares / count - number.square()).clamp(min=0).sqrt(),
        "since layer 0": since_start / total,
        "padding": leads[:, 0] / total,
        "words that lead": (leads > 0).sum(dim=1).float(),
    }
    for name, rated in data.rated.items():
        found[f"{name}, leaders"] = leads[:, rated].sum(dim=1) / total
        found[f"{name}, words"] = (words[rated].sum() / words.sum()).expand(cell.orders)
    found |= {name: hit / count for name, hit in hits.items()}
    found |= refitted(networks, data, part)
    results = {name: rounded(values) for name, values in found.items()}
    for layers in (0, MANY_LAYERS):
        hard = accuracy(networks, data, part, attention="hard", layers=layers)
        results[f"{layers} layers"] = hard
    often = leads.topk(min(TOP, data.rows), dim=1)
    described = []
    for order in range(cell.orders):
        pairs = zip(often.indices[order].tolist(), often.values[order].tolist(), strict=True)
        top = {data.words[word]: times for word, times in pairs}
        described.append({name: values[order] for name, values in results.items()} | {"top": top})
    return described


def at_random(
    last: torch.Tensor, present: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """As many of the tokens that are present as lead, drawn at random."""
    drawn = torch.rand(last.shape, device=last.device, generator=generator)
    places = drawn.masked_fill(~present, 2.0).argsort(dim=2).argsort(dim=2)
    return places < last.sum(dim=2, keepdim=True)


def refitted(networks: Networks, data: Data, part: slice) -> dict[str, torch.Tensor]:
    """Accuracy of new decoders, of the mean of all tokens and of the mean of leaders."""
    trained = data.parts(networks.cell)["train"]
    known, asked = pooled(networks, data, trained), pooled(networks, data, part)
    found = {}
    for name in known:
        fitted = fit(known[name], data.labels[trained])
        logits = (asked[name] @ fitted[:, :, None])[..., 0]
        right = (logits > 0) == (data.labels[part] > 0.5)
        found[f"new decoder, {name}"] = right.double().mean(dim=1)
    return found


def pooled(networks: Networks, data: Data, part: slice) -> dict[str, torch.Tensor]:
    """Means of final points over all tokens and over leaders, with a one for the bias."""
    found: dict[str, list[torch.Tensor]] = {"mean": [], "leaders": []}
    for ids, _ in chunks(data, part):
        kept = data.kept(networks.cell, ids)
        z, _, last = follow(networks, ids, kept)
        found["mean"].append(mean(z, kept))
        found["leaders"].append(mean(z, last))
    joined = {name: torch.cat(values, dim=1).double() for name, values in found.items()}
    return {
        name: torch.cat((value, torch.ones_like(value[..., :1])), dim=2)
        for name, value in joined.items()
    }


def fit(x: torch.Tensor, labels: torch.Tensor, ridge: float = 1e-4) -> torch.Tensor:
    """Logistic regressions (orders, numbers) of points (orders, reviews, numbers), by Newton's
    method."""
    y = labels.double()
    scale = x.square().mean(dim=1).sqrt().clamp(min=1e-9)
    x = x / scale[:, None]
    w = torch.zeros_like(x[:, 0])
    identity = ridge * torch.eye(x.shape[2], dtype=x.dtype, device=x.device)
    for _ in range(20):
        p = torch.sigmoid((x @ w[:, :, None])[..., 0])
        slope = (x * (p - y)[..., None]).mean(dim=1) + ridge * w
        bend = (x * (p * (1 - p))[..., None]).transpose(1, 2) @ x / x.shape[1] + identity
        w = w - torch.linalg.solve(bend, slope)
    return w / scale


# ------------------------------------------------------------------------------------- cells


def begin(cell: Cell, data: Data) -> tuple[Networks, list[torch.Generator]]:
    """Networks before their first layer is trained, and what draws the batches of each order."""
    torch.manual_seed(0)
    start = Network(data.rows, cell.d)
    generators = [torch.Generator() for _ in range(cell.orders)]
    generators[0].set_state(torch.get_rng_state())
    for order, generator in enumerate(generators[1:], start=1):
        generator.manual_seed(order)
    device = data.ids.device
    networks = Networks(cell, start).to(device)
    if cell.bag:
        first = Networks(replace(cell, layers=0, leaders=False), start).to(device)
        training = Training(first, data, generators)
        for _ in range(cell.bag):
            training.epoch()
        networks.load_state_dict(first.state_dict())
        networks.follow_bag()
    return networks, generators


def train_cell(
    cell: Cell, data: Data, deadline: float, folder: Path | None = None
) -> dict[str, Any] | None:
    """Train all orders of a cell.

    Returns
    -------
    result : dict or None
        Curves and descriptions, ready for JSON; None if the cell would end after the deadline.
        Where reviews are held out, ``tested`` is the accuracy on the test reviews at the epoch that
        they choose, for each order.
    """
    torch.set_float32_matmul_precision("highest")
    began = time.perf_counter()
    networks, generators = begin(cell, data)
    training = Training(networks, data, generators)
    _, asked = data.parts(cell)
    part = data.parts(cell)[asked]
    curves: dict[str, list] = {"train_loss": [], "train_accuracy": [], asked: [], "alpha": []}
    ends, times = {}, [time.perf_counter()]
    tested = [0.0] * cell.orders
    for epoch in range(cell.epochs):
        if cell.falling:
            # The last quarter of the epochs is spent at the final temperature.
            passed = min(1.0, epoch / (0.75 * cell.epochs))
            networks.temperature.fill_(TEMPERATURE**passed)
        losses, right = training.epoch()
        networks.temperature.fill_(TEMPERATURE)
        found = accuracy(networks, data, part)
        alphas = rounded(networks.alpha.detach())
        for curve, values in zip(curves.values(), (losses, right, found, alphas), strict=True):
            curve.append([round(value, 5) for value in values])
        chosen = [value == max(past) for value, *past in zip(found, *curves[asked], strict=True)]
        if cell.masked and any(chosen):
            now = accuracy(networks, data, slice(data.split, None))
            pairs = zip(now, chosen, tested, strict=True)
            tested = [new if best else old for new, best, old in pairs]
        if epoch + 1 in (SHORT, cell.epochs):
            ends[epoch + 1] = describe(networks, data, part)
        if folder and epoch + 1 == min(SHORT, cell.epochs):
            save(networks, data, folder)
        times.append(time.perf_counter())
        left = (cell.epochs - epoch - 1) * float(np.median(np.diff(times)))
        if epoch and times[-1] + left > deadline + (0 if epoch == 1 else PATIENCE):
            return None
    orders = []
    for order in range(cell.orders):
        one: dict[str, object] = {
            name: [values[order] for values in curve] for name, curve in curves.items()
        }
        one["ends"] = {epoch: described[order] for epoch, described in ends.items()}
        orders.append(one)
    timing = {
        "device": torch.cuda.get_device_name() if training.on_gpu else "cpu",
        "torch": torch.__version__,
        "seconds": round(time.perf_counter() - began, 1),
        "step_ms": round(float(np.median(np.diff(times))) / len(training.shares) * 1e3, 3),
    }
    return {"cell": asdict(cell)} | timing | {"orders": orders, "tested": tested}


def save(networks: Networks, data: Data, folder: Path) -> None:
    """Write the weights of the first order; of the embedding the rows of words in test reviews."""
    cell = networks.cell
    folder.mkdir(parents=True, exist_ok=True)
    rows = data.ids[data.split :].unique()
    arrays = {
        "rows": rows,
        "embedding": networks.embed(rows[None, None])[0, 0],
        "alpha": networks.alpha[:1],
        "decoder": networks.decoder[0],
        "bias": networks.bias[:1],
    }
    held = {name: value.detach().cpu().numpy() for name, value in arrays.items()}
    kind = f"changed, {cell.name}" if cell.masked else cell.attention
    np.savez_compressed(folder / f"{kind}-{cell.layers}-{cell.d}.npz", **held)


def append(path: Path, result: dict) -> None:
    """Add a line to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")


def main() -> None:
    """Train the cells that have no result yet, as many as there is time for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--lexicon", type=Path, nargs="*", default=[], dest="lexicons")
    parser.add_argument("--changes", action="store_true")
    parser.add_argument("--test", type=Path, help="file for what the test reviews say of changes")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--epochs", type=int, help="fewer epochs for all cells, to try")
    parser.add_argument("--weights", type=Path, help="folder for weights")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    deadline = time.perf_counter() + 60 * options.minutes
    data = Data(dict(np.load(options.data)), options.lexicons, options.device)
    cells = changed_cells() if options.changes else authors_cells()
    if options.epochs:
        cells = [replace(cell, epochs=options.epochs) for cell in cells]
    done = []
    if options.results.exists():
        done = [json.loads(line) for line in options.results.read_text("utf-8").splitlines()]
    known = [result["cell"] for result in done]
    for cell in cells:
        if asdict(cell) in known:
            continue
        if time.perf_counter() > deadline:
            break
        result = train_cell(cell, data, deadline, options.weights)
        name = f"{cell.name or cell.attention}, {cell.layers} layers, d = {cell.d}"
        if result is None:
            print(f"{name}: does not fit into the time left", flush=True)
            continue
        tested = {"cell": result["cell"], "test": result.pop("tested")}
        append(options.results, result)
        if options.test and cell.masked:
            append(options.test, tested)
        asked = "validation" if cell.masked else "test"
        best = ", ".join(f"{100 * max(order[asked]):.1f}" for order in result["orders"])
        times = f"{result['seconds']} s, {result['step_ms']} ms a step"
        print(f"{name}: {best} ({times})", flush=True)


if __name__ == "__main__":
    main()
