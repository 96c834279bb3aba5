"""Write what `hm.simulate` says of clouds under layers other than the paper's, for the tests of the
page's: python tests/page/write_layers.py FILE [--clouds 500] [--softmax 200]"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

import hardmax as hm

LAYERS = 6  # of fractions; softmax has more
SOFT_LAYERS = 20
VALUES = [
    None,
    [["1/2"]],
    [[1, 1], [1, 1]],
    [["1/2", -1], [1, "1/3"]],
    [[2, 0, 1], [0, 1, 0], [1, 0, 2]],
]
METRICS = [None, [[2]], [[2, 1], [1, 1]], [[0, 1], [-1, 0]], [[2, 0, 0], [0, 1, 0], [0, 0, "1/3"]]]
KINDS = [None, hm.TopK(2), hm.TopK(3), hm.Localmax("1/2"), hm.Localmax(0)]


def text_of(attention: Any) -> str | None:
    """What the page calls it."""
    if attention is None:
        return None
    (number, *_) = vars(attention).values()
    return f"{type(attention).__name__.lower()}:{number}"


def drawn(rng: random.Random, softmax: bool) -> tuple[Any, dict[str, Any]]:
    """A cloud with ties and equal tokens, or one anywhere, and a layer that is not the paper's."""
    n, d = rng.randint(1, 12), rng.randint(1, 3)
    tie = rng.random() < 0.6
    numbers = (
        ["-1", "-1/2", "0", "1/3", "1", "2"] if tie else [str(k / 1000) for k in range(-999, 1000)]
    )
    tokens = [[rng.choice(numbers) for _ in range(d)] for _ in range(n)]
    fits = {
        name: [m for m in table if m is None or len(m) == d]
        for name, table in (("value", VALUES), ("metric", METRICS))
    }
    parts: dict[str, Any] = {name: rng.choice(table) for name, table in fits.items()}
    parts |= {"alpha": rng.choice(["1/2", "1", "1/10", "3"]), "mask": rng.choice([None, "causal"])}
    if softmax:
        parts["attention"] = hm.Softmax(rng.choice(["1/2", "1", "3", "10", "30", "100"]))
    else:
        parts["attention"] = rng.choice(KINDS)
        if parts["mask"] is None and parts["value"] is None and not parts["attention"]:
            parts["mask"] = "causal"
    return tokens, parts


def told(tokens: Any, parts: dict[str, Any], layers: int) -> dict[str, Any]:
    rest = {name: part for name, part in parts.items() if name != "alpha"}
    how: dict[str, Any] = (
        {} if isinstance(parts["attention"], hm.Softmax) else {"arithmetic": "exact"}
    )
    run: Any = hm.simulate(tokens, hm.Dynamics(parts["alpha"], **rest), layers=layers, **how)
    plain = {name: part for name, part in parts.items() if name != "attention"}
    found = {"tokens": tokens, **plain, "attention": text_of(parts["attention"])}
    found["positions"] = [run.at(k).tolist() for k in range(layers + 1)]
    if how == {}:
        return found | {"error": run.error}
    found["attended"] = [run.attended(k).tolist() for k in range(layers + 1)]
    since = dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True))
    return found | {"leaders": [since.get(token, -1) for token in range(len(tokens))]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--clouds", type=int, default=500)
    parser.add_argument("--softmax", type=int, default=200)
    args = parser.parse_args()
    rng = random.Random(0)
    exact = [told(*drawn(rng, False), LAYERS) for _ in range(args.clouds)]
    soft = [told(*drawn(rng, True), SOFT_LAYERS) for _ in range(args.softmax)]
    args.file.write_text(json.dumps({"exact": exact, "softmax": soft}, default=str))


if __name__ == "__main__":
    main()
