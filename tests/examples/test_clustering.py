"""The batched training of the paper's classifiers, and what it says of their leaders."""

import ctypes
import importlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.check

PAPER = Path(__file__).parents[2] / "examples" / "paper"
WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture
def clustering(monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(PAPER))
    yield importlib.import_module("clustering")
    for name in set(sys.modules) - before:
        if str(PAPER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def held() -> dict[str, np.ndarray]:
    """Reviews whose first word decides; the last two are padding."""
    rng = np.random.default_rng(0)
    ids = rng.integers(3, 40, (300, 8)).astype(np.int32)
    labels = rng.integers(0, 2, 300).astype(np.int8)
    ids[:, 0] = np.where(labels == 1, 1, 2)
    ids[:, 6:] = 0
    words = np.frombuffer("\n".join(WORDS).encode(), dtype=np.uint8)
    return {"ids": ids, "labels": labels, "rows": np.array(40), "words": words}


@pytest.fixture
def data(clustering, held, tmp_path):
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("W1\t-1\nw1\t2.5\tmore\nw2\t-1.5\nw3\t0\nw4\t1\n")
    return clustering.Data(held, [lexicon], "cpu")


@pytest.mark.parametrize(("layers", "d"), [(0, 4), (2, 2), (8, 2)])
def test_each_order_trains_as_it_does_alone(layers, d, clustering, data, held, monkeypatch):
    train = importlib.import_module("train")
    monkeypatch.setattr(train, "LAYERS", layers)
    cell = clustering.Cell(layers, d, epochs=3, orders=3)
    together = clustering.train_cell(cell, data, np.inf)
    for order in range(3):
        alone, _ = train.train(
            held["ids"], held["labels"], 40, d, start="fresh", order=order, epochs=3,
            progress=lambda line: None,
        )  # fmt: skip
        found = together["orders"][order]
        assert found["train_loss"] == pytest.approx(alone["train_loss"], abs=2e-5)
        assert found["alpha"] == pytest.approx(alone["alpha"], abs=2e-5)


def test_every_change_can_be_trained(clustering, data):
    cells = [cell for cell in clustering.changed_cells() if cell.layers <= 1 and cell.d == 4]
    assert len({cell.name for cell in cells}) == len(clustering.CHANGES) + 2
    for cell in cells:
        short = replace(cell, epochs=8, orders=2, bag=min(cell.bag, 2))
        result = clustering.train_cell(short, data, np.inf)
        losses = result["orders"][1]["train_loss"]
        assert losses[-1] < losses[0], cell.name
        end = result["orders"][1]["ends"][8]
        assert end["padding"] == 0
        assert 0 < end["leaders"] <= 6


def network(clustering, data, embedding, **options):
    """Two equal orders with these embeddings; the first number is the logit."""
    cell = clustering.Cell(1, 2, orders=2, **options)
    networks = clustering.Networks(cell, clustering.Network(data.rows, 2))
    with torch.no_grad():
        networks.embedding.copy_(embedding)
        networks.alpha.fill_(1.0)
        networks.decoder.copy_(torch.tensor([1.0, 0.0]))
        networks.bias.zero_()
    return networks


@pytest.fixture
def opposite() -> Any:
    """Word 1 lies far right, word 2 far left, the others near zero; padding is above all."""
    embedding = 0.1 * torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    embedding[1], embedding[2], embedding[0] = (
        torch.tensor([4.0, 0.0]), torch.tensor([-4.0, 0.0]), torch.tensor([0.0, 4.0])
    )  # fmt: skip
    return embedding


def test_leaders_are_described(clustering, data, opposite):
    part = slice(210, None)
    networks = network(clustering, data, opposite)
    found = clustering.describe(networks, data, part)
    by_chance = {"as many at random", "without as many"}
    assert {name for name in found[0] if found[0][name] != found[1][name]} <= by_chance
    end, count = found[0], 90
    # The deciding word and padding lead in every review.
    assert set(list(end["top"])[:3]) == {"w0", "w1", "w2"}
    assert end["top"]["w0"] == count
    assert end["padding"] == pytest.approx(1 / end["leaders"], abs=1e-4)
    led = round(end["leaders"] * count)
    rated = sum(times for word, times in end["top"].items() if word in {"w1", "w2", "w4"})
    assert end["lexicon, leaders"] == pytest.approx(rated / led, abs=1e-4)
    assert end["hard"] == end["leaders alone"] == end["new decoder, mean"] == 1
    assert end["0 layers"] == end["40 layers"] == 1
    assert end["without leaders"] < 0.8


def test_masked_padding_leads_nobody(clustering, data, opposite):
    networks = network(clustering, data, opposite, masked=True)
    ids = data.ids[None, :5]
    for attention in ("softmax", "hard", "straight"):
        logits, _ = networks(ids, ids > 0, attention)
        changed = ids.clone()
        padding = networks.embedding.clone()
        padding[:, 0] = 100.0
        networks.embedding = torch.nn.Parameter(padding)
        assert torch.equal(networks(changed, ids > 0, attention)[0], logits)


def test_long_words_keep_their_logits(clustering, data):
    networks = network(clustering, data, torch.randn(40, 2), bag=1)
    with torch.no_grad():
        networks.bias.fill_(0.3)
    ids = data.ids[None, :7]
    before = networks(ids, layers=0)[0]
    own = (networks.embed(ids)[0] @ networks.decoder[0] + 0.3).abs()
    networks.follow_bag()
    assert torch.allclose(networks(ids, layers=0)[0], before, atol=1e-2)
    lengths = networks.embed(ids)[0].norm(dim=2)
    assert torch.allclose(lengths, own / 0.7, atol=2e-3)


def test_gradients_reach_what_they_should(clustering, data):
    """Hard attention moves alpha; only the straight-through gradient depends on the scores."""
    networks = network(clustering, data, torch.randn(40, 2))
    gradients = {}
    for attention in ("hard", "straight"):
        networks.zero_grad()
        networks(data.ids[None, :9], attention=attention)[0].sum().backward()
        gradients[attention] = networks.embedding.grad.clone()
    logits = [networks(data.ids[None, :9], attention=kind)[0] for kind in gradients]
    assert torch.allclose(*logits, atol=1e-5)
    assert not torch.allclose(*gradients.values(), atol=1e-3)


def test_a_neutral_token_is_followed_and_not_seen(clustering, data, opposite):
    networks = network(clustering, data, opposite, neutral=True)
    with torch.no_grad():
        networks.neutral.copy_(torch.tensor([5.0, 9.0]))
    keys = networks.keys(networks.embed(data.ids[None, :3]))
    assert torch.allclose(keys[:, :, -1], torch.tensor([0.0, 9.0]))
    last = clustering.follow(networks, data.ids[None, :3], None)[2]
    assert not last[data.ids[None, :3].expand_as(last) == 0].any()


def test_it_goes_on_where_it_stopped(clustering, held, tmp_path, monkeypatch, capsys):
    np.savez(tmp_path / "ids.npz", **held)
    cells = [clustering.Cell(0, 2, orders=1, epochs=2), clustering.Cell(1, 2, orders=1, epochs=2)]
    out = tmp_path / "out.jsonl"
    monkeypatch.setattr(sys, "argv", ["clustering.py", str(tmp_path / "ids.npz"), str(out)])
    for wanted in (cells[:1], cells):
        monkeypatch.setattr(clustering, "authors_cells", lambda wanted=wanted: wanted)
        clustering.main()
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        assert [line["cell"]["layers"] for line in lines] == [cell.layers for cell in wanted]
    assert capsys.readouterr().out.count("layers") == 2


# ---------------------------------------------------------------- kernels

HOST = """
#include <cmath>
#define DEVICE static inline
extern "C" {
"""
# What the kernels do with a block for each review and a thread for each word, one after the other.
LOOPS = """
void forward_layer(const float* z, const unsigned char* kept, const float* alpha,
        const float* heat, float* moved, float* ws, float* m, float* l, int* chosen, int reviews,
        int blocks) {
    for (int k = 0; k < blocks * LENGTH; ++k) {
        int q = k / LENGTH * LENGTH;
        forward_row(k - q, z + q * D, kept + q, alpha[k / LENGTH / reviews],
            KIND == 0 ? heat[0] : 1.f, moved + q * D, ws + q * D, m + q, l + q, chosen + q);
    }
}
void backward_layer(const float* z, const float* given, const unsigned char* kept,
        const float* alpha, const float* heat, const float* ws, const float* m, const float* l,
        const int* chosen, float* slope, float* alpha_slope, int reviews, int blocks) {
    for (int k = 0; k < blocks * LENGTH; ++k) {
        int q = k / LENGTH * LENGTH;
        float answered[LENGTH];
        for (int j = 0; j < LENGTH; ++j)
            answered[j] = dot(given + (q + j) * D, ws + (q + j) * D);
        backward_row(k - q, z + q * D, given + q * D, answered, m + q, l + q, chosen + q, kept + q,
            alpha[k / LENGTH / reviews], KIND == 0 ? heat[0] : 1.f, slope + q * D, alpha_slope + q,
            ws + q * D);
    }
}
}
"""


@pytest.fixture
def on_host(clustering, monkeypatch, tmp_path):
    """Compiles the kernels for the processor."""
    compiler = shutil.which("g++") or pytest.skip("needs g++")
    kernels = importlib.import_module("fast_layers")

    def compiled(name, d, kind, masked):
        path = tmp_path / f"{name}{d}{kind}{masked}"
        constants = {"D": d, "KIND": kernels.KINDS[kind], "MASKED": int(masked), "LENGTH": 128}
        defines = "".join(f"#define {key} {value}\n" for key, value in constants.items())
        path.with_suffix(".cpp").write_text(defines + HOST + kernels.SOURCE + LOOPS)
        options = ["-O1", "-w", "-shared", "-fPIC", "-o", path.with_suffix(".so")]
        subprocess.run([compiler, path.with_suffix(".cpp"), *options], check=True)
        function = getattr(ctypes.CDLL(str(path.with_suffix(".so"))), name)

        def launch(grid, block, arguments):
            assert block == (128, 1, 1)
            given = [
                ctypes.c_void_p(one.data_ptr()) if torch.is_tensor(one) else ctypes.c_int(one)
                for one in arguments
            ]
            function(*given, ctypes.c_int(grid[0]))

        return launch

    monkeypatch.setattr(kernels, "compiled", compiled)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", ["softmax", "straight", "hard"])
def test_kernels_do_what_the_layer_does(kind, masked, clustering, on_host):
    cell = clustering.Cell(3, 4, kind, orders=2, masked=masked)
    torch.manual_seed(0)
    networks = clustering.Networks(cell, clustering.Network(50, 4))
    networks.temperature.fill_(0.3)
    with torch.no_grad():
        networks.alpha.copy_(torch.tensor([0.4, -0.2]))
    ids = torch.randint(0, 50, (2, 3, 128))
    found = []
    for fast in (False, True):
        networks.fast = fast
        assert networks.is_fast(networks.embed(ids)) == fast
        networks.zero_grad()
        logits, _ = networks(ids, ids > 5 if masked else None)
        (logits * torch.arange(1, 7).view(2, 3)).sum().backward()
        found.append(
            [logits.detach(), networks.embedding.grad.clone(), networks.alpha.grad.clone()]
        )
    for slow, quick in zip(*found, strict=True):
        assert torch.allclose(slow, quick, rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------- the table


def test_the_change_that_held_out_reviews_prefer_is_chosen(clustering):
    table = importlib.import_module("clustering_table")

    def result(name: str, layers: int, *validation: float) -> dict:
        orders = [{"validation": [0.1, best]} for best in validation]
        return {"cell": {"name": name, "layers": layers, "d": 2}, "orders": orders}

    results = [result("none", 0, 0.95), result("a", 1, 0.7, 0.9), result("b", 1, 0.82, 0.8)]
    tested = [{"cell": one["cell"], "test": [place]} for place, one in enumerate(results)]
    assert [(row["name"], row["test"]) for row in table.choose(results, tested)] == [
        ("b", [2]),
        ("none", [0]),
    ]


def test_a_row_has_lists_over_the_orders(clustering, data):
    table = importlib.import_module("clustering_table")
    result = clustering.train_cell(clustering.Cell(0, 2, epochs=2, orders=2), data, np.inf)
    row = table.summarize(json.loads(json.dumps(result)), "test")
    assert row["layers"] == 0
    assert "penalty" not in row
    first, second = (order["test"] for order in result["orders"])
    assert row["test"] == pytest.approx(np.add(first, second) / 2)
    end = row["ends"]["2"]
    assert end["best"] == [max(first), max(second)]
    assert end["last"] == [first[1], second[1]]
    assert end["leaders"] == [order["ends"][2]["leaders"] for order in result["orders"]]
    assert table.rounded({"a": [0.123456, "b"]}) == {"a": [0.1235, "b"]}
