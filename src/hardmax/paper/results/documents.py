"""What was computed once from all reviews, too many or not ours to ship, and is kept as small documents."""

import json
from importlib.resources import files
from typing import Any


def kept_document(name: str) -> dict[str, Any]:
    """The document of that name in `kept/`."""
    return json.loads((files("hardmax.paper") / "kept" / f"{name}.json").read_text("utf-8"))
