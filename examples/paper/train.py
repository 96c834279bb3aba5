"""Train the paper's sentiment classifier as its authors did: softmax attention of temperature 0.001
in d dimensions.

    python examples/paper/train.py --data ids.npz --d 2 --device cuda --out d2.json [--weights
    d2.npz]

`ids.npz` comes from `prepare.py`. Only torch and numpy are needed; an epoch takes half a second on
an H200 and a minute or two on two CPU cores. The defaults follow the authors' program; the options
switch the four points in which an independent implementation naturally differs:

loss     "bce": `BCELoss` of a float32 sigmoid, whose gradient vanishes beyond logits of about 17;
"logits": the
         stable cross-entropy of logits
batches  "torch": the order in which `DataLoader(shuffle=True)` draws them; "numpy": numpy
permutations start    "loop": one seed for all dimensions, trained one after the other (d = 2, 4, 8,
16), so that only d = 2 starts
         right after the seed; "fresh": the seed is set before each dimension
order    another number gives another order of batches from the same starting weights
"""

import argparse
import json
import math
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits
from torch.utils.data import RandomSampler

DIMENSIONS = (2, 4, 8, 16)
LAYERS, TEMPERATURE, BATCH, EPOCHS, LEARNING_RATE, LARGEST_NORM = 8, 0.001, 64, 101, 1e-3, 5.0
TRAINING_SHARE = 0.7
HARDMAX_EVERY = 10  # epochs


class Network(torch.nn.Module):
    """Embedding, eight layers that share one step size alpha, mean over the positions, linear
    decoder.

    Padding is a word like the others and nothing keeps alpha positive, as in the authors' program.
    """

    def __init__(self, rows: int, d: int):
        super().__init__()
        # Drawn in this order, seed 0 gives the numbers that the authors started from for d = 2: the
        # rows of words that occur in test reviews only are still unchanged in their saved file.
        self.embedding = torch.nn.Embedding(rows, d)
        self.alpha = torch.nn.Parameter(torch.empty(1).uniform_())
        self.decoder = torch.nn.Linear(d, 1)

    def forward(self, ids: torch.Tensor, hard: bool = False) -> torch.Tensor:
        """Logits of the positive class, with softmax or (for evaluation) hardmax attention."""
        z = self.embedding(ids)
        for _ in range(LAYERS):
            scores = torch.bmm(z, z.transpose(1, 2))
            if hard:
                attended = z.gather(1, scores.argmax(dim=2)[:, :, None].expand_as(z))
            else:
                attended = torch.bmm((scores / TEMPERATURE).softmax(dim=2), z)
            z = (z + self.alpha * attended) / (1 + self.alpha)
        return self.decoder(z.mean(dim=1)).squeeze(1)


def losses_and_hits(
    logits: torch.Tensor, labels: torch.Tensor, loss: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """For each review its loss and whether it was classified correctly."""
    if loss == "bce":
        losses = binary_cross_entropy(logits.sigmoid(), labels, reduction="none")
    else:
        losses = binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return losses, ((logits > 0) == (labels > 0.5)).float()


def draw_batches(count: int, epoch: int, batches: str, seed: tuple[int, int]) -> torch.Tensor:
    """The order of `count` reviews in one epoch."""
    if batches == "numpy":
        return torch.from_numpy(np.random.default_rng([*seed, epoch]).permutation(count))
    torch.empty((), dtype=torch.int64).random_()  # a DataLoader draws a seed for its workers first
    return torch.tensor(list(RandomSampler(range(count))))


def shares(count: int) -> torch.Tensor:
    """Weights that turn a sum over one epoch, padded to whole batches, into a sum of batch means;
    (batches, 64)."""
    taken = (torch.arange(math.ceil(count / BATCH) * BATCH) < count).float().reshape(-1, BATCH)
    return taken / taken.sum(dim=1, keepdim=True)


def train(
    ids: np.ndarray,
    labels: np.ndarray,
    rows: int,
    d: int,
    *,
    loss: str = "bce",
    batches: str = "torch",
    start: str = "loop",
    order: int = 0,
    seed: int = 0,
    epochs: int = EPOCHS,
    device: str = "cpu",
    progress=print,
) -> tuple[dict, dict[str, np.ndarray]]:
    """Train on the first 70 % of the reviews and test on the rest after every epoch.

    Losses and accuracies are means of batch means, as the authors report them. Every tenth epoch is
    also evaluated with hardmax in place of softmax.

    Returns
    -------
    result : dict
        The options and the curves, ready for JSON.
    weights : dict of arrays
        Embedding, alpha, decoder and bias after the last epoch and (prefix ``best_``) after the
        epoch with the highest test accuracy.
    """
    torch.set_float32_matmul_precision(
        "highest"
    )  # scores are divided by 0.001: they need all their digits
    began, on_gpu, split = (
        time.perf_counter(),
        device.startswith("cuda"),
        int(len(ids) * TRAINING_SHARE),
    )
    torch.manual_seed(seed)
    if start == "loop":
        for earlier in DIMENSIONS[: DIMENSIONS.index(d)]:
            Network(rows, earlier)
            for _ in range(
                EPOCHS * 4
            ):  # two loaders, each with a seed for its workers and one for its order
                torch.empty((), dtype=torch.int64).random_()
    network = Network(rows, d).to(device)
    if order:
        torch.manual_seed(order)
    all_ids, all_labels = (
        torch.from_numpy(ids).to(device),
        torch.from_numpy(labels).float().to(device),
    )
    train_shares, test_shares = (shares(count).to(device) for count in (split, len(ids) - split))
    chosen = torch.zeros(train_shares.numel(), dtype=torch.int64, device=device)
    step_number = torch.zeros(1, dtype=torch.int64, device=device)
    totals = torch.zeros(3, device=device)  # loss, hits, loss of hardmax
    optimizer = torch.optim.Adam(
        network.parameters(), lr=LEARNING_RATE, fused=on_gpu, capturable=on_gpu
    )

    def step(with_hardmax: bool) -> None:
        batch = chosen.view(-1, BATCH).index_select(0, step_number)[0]
        share = train_shares.index_select(0, step_number)[0]
        x, y = all_ids[batch], all_labels[batch]
        optimizer.zero_grad(set_to_none=True)
        losses, hits = losses_and_hits(network(x), y, loss)
        mean = losses @ share
        mean.backward()
        hard = totals.new_zeros(())
        if with_hardmax:
            with torch.no_grad():
                hard = losses_and_hits(network(x, hard=True), y, loss)[0] @ share
        torch.nn.utils.clip_grad_norm_(network.parameters(), LARGEST_NORM)
        optimizer.step()
        totals.add_(torch.stack((mean.detach(), hits @ share, hard)))
        step_number.add_(1)

    @torch.no_grad()
    def test(places: torch.Tensor, hard: bool) -> torch.Tensor:
        sums = torch.zeros(2, device=device)
        for part, share in zip(
            places.split(1024), test_shares.view(-1)[: len(places)].split(1024), strict=True
        ):
            measured = losses_and_hits(network(all_ids[part], hard=hard), all_labels[part], loss)
            sums += torch.stack(measured) @ share
        return sums / len(test_shares)

    graphs: dict[bool, torch.cuda.CUDAGraph] = {}
    stream = torch.cuda.Stream() if on_gpu else None
    curves: dict[str, list[float]] = {
        name: [] for name in ("train_loss", "train_accuracy", "test_loss", "test_accuracy", "alpha")
    }
    hardmax: dict[str, list[float]] = {
        name: [] for name in ("epoch", "train_loss", "test_loss", "test_accuracy")
    }
    best: dict[str, np.ndarray] = {}
    if on_gpu:
        torch.cuda.synchronize()
    with torch.cuda.stream(stream) if on_gpu else nullcontext():
        for epoch in range(epochs):
            compared = epoch % HARDMAX_EVERY == 0
            chosen[:split] = draw_batches(split, epoch, batches, (seed, order)).to(device)
            step_number.zero_()
            totals.zero_()
            # On a GPU a step is recorded once and replayed: launching its kernels one by one takes longer than they do.
            if on_gpu and epoch and compared not in graphs:
                torch.cuda.synchronize()
                graphs[compared] = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graphs[compared], stream=stream):
                    step(compared)
            for _ in range(len(train_shares)):
                graphs[compared].replay() if compared in graphs else step(compared)
            loss_, accuracy, hard_loss = (totals / len(train_shares)).tolist()
            places = (
                draw_batches(len(ids) - split, epoch, batches, (seed, order)).to(device) + split
            )
            tested = test(places, hard=False).tolist()
            for curve, value in zip(
                curves.values(), (loss_, accuracy, *tested, network.alpha.item()), strict=True
            ):
                curve.append(round(value, 6))
            if compared:
                found = (epoch, hard_loss, *test(places, hard=True).tolist())
                for curve, value in zip(hardmax.values(), found, strict=True):
                    curve.append(round(value, 6))
            if tested[1] >= max(curves["test_accuracy"]) - 1e-6:
                best = weights_of(network, "best_")
            progress(
                f"d = {d}, epoch {epoch}: loss {loss_:.4f}, accuracy {accuracy:.4f}, test loss {tested[0]:.4f}, "
                f"test accuracy {tested[1]:.4f}, alpha {network.alpha.item():.3f}"
            )
    result = {
        "d": d,
        "loss": loss,
        "batches": batches,
        "start": start,
        "order": order,
        "seed": seed,
    }
    name = torch.cuda.get_device_name() if on_gpu else "cpu"
    timing = {
        "device": name,
        "torch": torch.__version__,
        "seconds": round(time.perf_counter() - began, 1),
    }
    return result | timing | curves | {"hardmax": hardmax}, weights_of(network) | best


def weights_of(network: Network, prefix: str = "") -> dict[str, np.ndarray]:
    """The weights as arrays."""
    held = {"embedding": network.embedding.weight, "alpha": network.alpha}
    held |= {"decoder": network.decoder.weight[0], "bias": network.decoder.bias}
    return {prefix + name: value.detach().cpu().numpy() for name, value in held.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--d", type=int, choices=DIMENSIONS, required=True)
    parser.add_argument("--loss", choices=["bce", "logits"], default="bce")
    parser.add_argument("--batches", choices=["torch", "numpy"], default="torch")
    parser.add_argument("--start", choices=["loop", "fresh"], default="loop")
    parser.add_argument("--order", type=int, default=0)
    parser.add_argument(
        "--split", type=int, help="reorder the reviews after the first 2,000 by this seed"
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, help="JSON file for the result")
    parser.add_argument("--weights", type=Path, help="npz file for the weights")
    options = vars(parser.parse_args())
    data, split = np.load(options.pop("data")), options.pop("split")
    out, weights_file = options.pop("out"), options.pop("weights")
    review_order = np.arange(len(data["ids"]))
    if split is not None:
        review_order[2000:] = np.random.default_rng(split).permutation(review_order[2000:])
    result, weights = train(
        data["ids"][review_order],
        data["labels"][review_order],
        int(data["rows"]),
        options.pop("d"),
        **options,
    )
    if out:
        out.write_text(json.dumps(result | {"split": split}))
    if weights_file:
        np.savez_compressed(weights_file, **weights)  # pyright: ignore[reportArgumentType]
