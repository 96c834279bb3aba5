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
    core, extras = _requirements()
    exact = _is_exact()
    facts: dict[str, Any] = {"hardmax": __version__, "python": platform.python_version()}
    facts |= {name: _version(name) for name in core}
    facts |= {"system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count()}
    facts |= {"gpu": _gpu(), "ties are decided exactly": exact}
    missing = {extra: [one for one in names if not _version(one)] for extra, names in extras}
    if args.json:
        print_json(facts | {"missing_of_extra": missing})
        return int(not exact)
    print_facts(facts)
    states = [
        [extra, f"missing {', '.join(names)}: {how_to_install(extra)}" if names else "installed"]
        for extra, names in missing.items()
    ]
    print_table(["extra", "state"], states)
    return int(not exact)


def _requirements() -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The names of what the package needs, and of what each extra needs."""
    found: dict[str, list[str]] = {}
    for requirement in requires("hardmax") or []:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)", requirement)
        if name and name[0] != "hardmax":
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return found.pop("", []), list(found.items())


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
