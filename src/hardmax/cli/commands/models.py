"""`hardmax models`: the models that ship with the package."""

from typing import Any

from hardmax.cli.options import AsJson
from hardmax.cli.output import print_json, print_table
from hardmax.text.wording import layers_to_json

COLUMNS = ("name", "tokens", "dimension", "layers", "alpha", "classes", "accuracy")


def models_command(as_json: AsJson = False) -> None:
    """List the models that ship with the package.

    Each can be named wherever a model is asked for: `hardmax explain TEXT --model NAME`. Accuracy is what was measured,
    once, on texts that training did not see.
    """
    from hardmax.text.shipped import available

    found = [_described(name) for name in available()]
    if as_json:
        print_json(found)
    else:
        rows = [[_shown(model[column]) for column in COLUMNS] for model in found]
        print_table(list(COLUMNS), rows, right=["tokens", "dimension", "layers", "accuracy"])


def _described(name: str) -> dict[str, Any]:
    from hardmax.text.shipped import load

    model = load(name)
    return {
        "name": name,
        "tokens": len(model.vocabulary),
        "dimension": model.dimension,
        "layers": layers_to_json(model.layers),
        "alpha": model.alpha,
        "classes": list(model.classes),
        "accuracy": model.metrics.get("accuracy"),
    }


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
