"""What decides in a model, as the bytes of its files, and the digest that tells one model from another."""

import hashlib
import json
from typing import Any
from weakref import WeakKeyDictionary

from hardmax._validation import InputError
from hardmax.text.model.model import Model
from hardmax.text.wording import layers_to_json

FORMAT, VERSION = "hardmax text model", 1
DTYPES = {"embeddings": "float32", "decoder": "float32", "bias": "float32", "extra": "float32", "metric": "float64"}


def deciding_files(model: Model, *, errors: str = "strict") -> dict[str, bytes]:
    """The settings, the weights and the vocabulary; what was measured, and the card, decide nothing.

    `errors` says what becomes of letters that UTF-8 does not have, in the names of classes.
    """
    from safetensors.numpy import save  # not needed to explain a text

    tensors = {name: getattr(model, name) for name in DTYPES if getattr(model, name) is not None}
    config = {
        "format": FORMAT,
        "version": VERSION,
        "classes": list(model.classes),
        "layers": layers_to_json(model.layers),
        "alpha": model.alpha,
        "temperature": model.temperature,
        "gate": model.gate,
        "neutral_weight": model.neutral_weight,
        "counts": "presence" if model.binary else "all",
        "tokeniser": model.tokeniser.to_dict(),
        "dimension": model.dimension,
        "tokens": len(model.vocabulary),
        "tensors": sorted(tensors),
    }
    return {
        "config.json": indented(config, errors=errors),
        "model.safetensors": save(tensors),
        "vocabulary.txt": model.vocabulary.to_bytes(),
    }


_digests: WeakKeyDictionary[Model, str] = WeakKeyDictionary()


def digest(model: Model) -> str:
    """SHA-256 of what `sha256sum config.json model.safetensors vocabulary.txt` prints in the folder of the model."""
    if model not in _digests:
        files = deciding_files(model, errors="surrogatepass")  # it cannot be saved, but it can be asked
        lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
        _digests[model] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return _digests[model]


def indented(value: Any, *, errors: str = "strict") -> bytes:
    """Plain data as the JSON of a file."""
    try:
        return (json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode(errors=errors)
    except (TypeError, ValueError) as error:
        raise InputError(f"`classes` and `metrics` must be plain data for JSON: {error}.") from None
