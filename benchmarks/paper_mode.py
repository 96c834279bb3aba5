"""Paper mode on the full IMDb: the authors' network at d = 2, 4, 8 and 16, trained as they train it, and beside it.

python benchmarks/paper_mode.py prepare IMDB-FOLDER PREPARED.npz [--wordnet FOLDER]
python benchmarks/paper_mode.py train PREPARED.npz RESULTS [--device cuda] [--runs d2-paper d2-validated d2-exact …]
python benchmarks/paper_mode.py time PREPARED.npz TIMES.json [--device cuda] [--d 2 4]
python benchmarks/paper_mode.py orders RESULTS ORDERS.json

The first needs train.parquet and test.parquet, and WordNet for the lemmas. The second needs torch, numpy and
safetensors alone; it writes a folder for each training to RESULTS, goes on where it was cut short, and leaves alone
what is at its end. The third times epochs of softmax and of the exact hardmax, each alone on the device. The fourth
keeps of trainings with other `--shuffles` what `hardmax reproduce orders` draws.
"""

# pyright: reportMissingImports=false
import argparse
import json
import time
from pathlib import Path
from typing import Any

from hardmax._files import write_whole
from hardmax.paper.mode.plan import DIMENSIONS, plan_of
from hardmax.paper.reviews.stored import read_reviews, write_reviews

RUNS = [f"d{d}-{kind}" for kind in ("paper", "validated") for d in reversed(DIMENSIONS)] + ["d4-exact", "d2-exact"]


def say(line: str) -> None:
    print(line, flush=True)


def prepare(options: argparse.Namespace) -> None:
    from hardmax.paper.reviews.lemmas import find_lemmas, read_lemmas
    from hardmax.paper.reviews.preparing import prepare_reviews
    from hardmax.text.corpora import read_corpus

    lemmas = read_lemmas(options.wordnet) if options.wordnet else find_lemmas()
    corpora = [read_corpus(options.data / f"{split}.parquet", on_bad_rows="refuse") for split in ("train", "test")]
    texts, labels = ([item for corpus in corpora for item in getattr(corpus, part)] for part in ("texts", "labels"))
    reviews = prepare_reviews(texts, labels, lemmas, seed=options.seed)
    write_reviews(options.prepared, reviews)
    first = ", ".join(
        f"{w} {n:,}" for w, n in zip(reviews.vocabulary.words[1:7], reviews.vocabulary.counts[1:7], strict=True)
    )
    say(f"{len(texts):,} reviews, {len(reviews.vocabulary):,} words with padding: {first}")
    if not reviews.lemmatised:
        say("No WordNet was found: words stay as they are. Name its folder with --wordnet.")


def put(options: argparse.Namespace) -> tuple[Any, tuple[str, ...]]:
    import torch

    from hardmax.paper.mode.reviews_on_device import put_on_device

    torch.set_float32_matmul_precision("highest")  # scores are divided by a thousandth: they need all their digits
    reviews = read_reviews(options.prepared)
    words = reviews.vocabulary.words
    return put_on_device(reviews.ids, reviews.labels, len(words), options.device), words


def train(options: argparse.Namespace) -> None:
    from hardmax.paper.mode.running import train_together

    runs = [(int(run[1:].split("-")[0]), run.split("-")[1]) for run in options.runs]
    plans = [
        plan_of(d, kind, epochs=options.epochs, seed=options.seed, shuffle=shuffle)
        for shuffle in options.shuffles
        for d, kind in runs
        if d in options.d
    ]
    reviews, words = put(options)
    options.results.mkdir(parents=True, exist_ok=True)
    write_whole(options.results / "words.txt", "\n".join(words).encode("utf-8"))
    documents = train_together(
        reviews,
        plans,
        options.results,
        at_once=options.at_once,
        checkpoint_every=options.checkpoint_every,
        seconds=options.seconds,
        record_graphs=not options.no_graphs,
        progress=say,
    )
    for document in documents:
        chosen, last, test = document["chosen"], document["last"], document.get("test", {})
        say(
            f"{document['name']}: {document['judged_by']} best {chosen['judged_accuracy']:.4f} "
            f"(epoch {chosen['epoch']}), "
            f"last {last['judged_accuracy']:.4f}; test once {test.get('accuracy', '-')}; {document['seconds']:.0f} s"
        )
    say(f"{len(documents)} of {len(plans)} at their end")


def measure(options: argparse.Namespace) -> None:
    import torch

    from hardmax.paper.mode.training import Training

    reviews, _ = put(options)
    rows = []
    for d in options.d:
        for kind in ("paper", "exact"):
            if reviews.ids.is_cuda:
                torch.cuda.reset_peak_memory_stats()
            training = Training(reviews, plan_of(d, kind, epochs=6), record_graphs=not options.no_graphs)
            seconds, began = [], time.perf_counter()
            for is_epoch in training.advance():
                if is_epoch:
                    training.wait()
                    seconds.append(time.perf_counter() - began)
                    began = time.perf_counter()
            memory = torch.cuda.max_memory_allocated() if reviews.ids.is_cuda else None
            # Two epochs warm up: step by step, and with the recording of the graph.
            rows.append({"dimension": d, "kind": kind, "seconds": min(seconds[2:]), "all": seconds, "bytes": memory})
            say(
                f"d = {d}, {kind}: {min(seconds[2:]):.3f} s an epoch (first {seconds[0]:.2f} s), {memory} bytes at most"
            )
    device = torch.cuda.get_device_name() if reviews.ids.is_cuda else "cpu"
    document = {"device": device, "torch": torch.__version__, "rows": rows}
    write_whole(options.results, json.dumps(document, indent=1).encode("utf-8"))


def orders(options: argparse.Namespace) -> None:
    found = [json.loads(path.read_text("utf-8")) for path in options.results.glob("d*-paper*/result.json")]
    found.sort(key=lambda document: (document["plan"]["dimension"], document["plan"]["shuffle"]))
    kept = [
        {
            "dimension": document["plan"]["dimension"],
            "order": document["plan"]["shuffle"],
            "test": [round(value, 4) for value in document["history"]["judged_accuracy"]],
            "loss": [round(value, 4) for value in document["history"]["train_loss"]],
            "alpha": [round(value, 3) for value in document["history"]["alpha"]],
        }
        for document in found
    ]
    write_whole(options.orders, json.dumps({"runs": kept}).encode("utf-8"))
    say(f"{len(kept)} orders kept")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    commands = parser.add_subparsers(required=True)
    prepares = commands.add_parser("prepare")
    prepares.add_argument("data", type=Path)
    prepares.add_argument("prepared", type=Path)
    prepares.add_argument("--wordnet", type=Path)
    prepares.set_defaults(run=prepare)
    keeps = commands.add_parser("orders")
    keeps.add_argument("results", type=Path)
    keeps.add_argument("orders", type=Path)
    keeps.set_defaults(run=orders)
    for name, run in (("train", train), ("time", measure)):
        command = commands.add_parser(name)
        command.add_argument("prepared", type=Path)
        command.add_argument("results", type=Path)
        command.add_argument("--device", default="cpu")
        command.add_argument("--d", type=int, nargs="+", default=list(DIMENSIONS))
        command.add_argument("--no-graphs", action="store_true", help="on a GPU: every step is asked for by itself")
        command.set_defaults(run=run)
        if name == "train":
            command.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS)
            command.add_argument("--epochs", type=int, default=101)
            command.add_argument("--shuffles", type=int, nargs="+", default=[0], help="orders of the reviews")
            command.add_argument("--at-once", type=int, default=4)
            command.add_argument("--checkpoint-every", type=int, default=20, help="epochs")
            command.add_argument(
                "--seconds", type=float, default=float("inf"), help="then stop at the last checkpoints"
            )
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse()
    chosen.run(chosen)
