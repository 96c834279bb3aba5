"""Check the installation.

Prints versions, missing extras, what the machine offers, and whether ties are decided exactly."""

import os
import platform
import re
from argparse import Namespace
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from hardmax import __version__
from hardmax._common.validation import how_to_install
from hardmax.cli import options as opt
from hardmax.cli.output import print_facts, print_json, print_table

OPTIONS = {
    "--compile": opt.flag("Compile the usual kernels now, about a minute."),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    if args.compile:
        _compile_kernels()
    facts: dict[str, Any] = {"hardmax": __version__, "python": platform.python_version()}
    facts |= {"system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count()}
    facts |= {"gpu": _gpu(), "ties are decided exactly": _is_exact()}
    missing: dict[str, list[str]] = {}
    for requirement in requires("hardmax") or []:
        name = re.split(r"[^\w.-]", requirement)[0]
        extra = re.search(r"extra == ['\"]([\w-]+)", requirement)
        if extra is None:
            facts[name] = _version(name)
        elif name != "hardmax":
            missing.setdefault(extra[1], []).extend([] if _version(name) else [name])
    if args.json:
        print_json(facts | {"missing_of_extra": missing})
    else:
        print_facts(facts)
        rows = []
        for extra, names in missing.items():
            remedy = f"missing {', '.join(names)}: {how_to_install(extra)}"
            rows.append([extra, remedy if names else "installed"])
        print_table(["extra", "state"], rows)
    return int(not facts["ties are decided exactly"])


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _gpu() -> str:
    if not _version("torch"):
        return "torch is not installed"
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "none found"


def _compile_kernels() -> None:
    """Compile, and cache, what large clouds, batches of clouds and texts call."""
    import numpy as np

    from hardmax import Dynamics, limit, limits, load_model

    draw = np.random.default_rng(0).standard_normal
    for shape in ((500, 2), (5000, 3), (2000, 10)):
        limit(draw(shape), Dynamics(1))
    limits(draw((100, 20, 2)), Dynamics(1))
    model, text = load_model("sentiment-en"), "An awful script, but the cast is great. "
    model.predict([text] * 2000)
    model.explain(text * 1000)


def _is_exact() -> bool:
    """Whether a token with two ties, which floats lose, has the limit that it should have."""
    from hardmax import Dynamics, clouds, limit

    cloud = clouds.rotated(clouds.square(inside=[("1/2", 0)]))
    lim = limit(cloud, Dynamics("1/2"))
    gap = abs(lim.limit_points[4] - (0.6, 0.8)).max()
    return lim.certified and bool(gap < 1e-9)
