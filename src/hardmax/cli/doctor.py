"""`hardmax doctor`: what is installed, what the machine offers, and whether the arithmetic is
exact."""

import os
import platform
import re
import shutil
import sys
from fractions import Fraction
from typing import Annotated, Any

from typer import Exit, Option

from hardmax._common.validation import how_to_install
from hardmax.cli.options import AsJson
from hardmax.cli.output import print_facts, print_json, print_table

CORE = ("numpy", "scipy", "numba", "python-flint", "safetensors", "typer", "rich")
MISSING = "not installed"


def doctor_command(
    as_json: AsJson = False,
    compile_now: Annotated[
        bool,
        Option("--compile", help="Compile the usual kernels now, about a minute."),
    ] = False,
) -> None:
    """Check the installation.

    Prints versions, missing extras, what the machine offers, and whether ties are decided exactly.
    """
    from hardmax import __version__

    if compile_now:
        _compile_kernels()
    own_versions = {"hardmax": __version__, "python": platform.python_version()}
    report: dict[str, Any] = {
        "versions": own_versions | {name: _version(name) for name in CORE},
        "missing_of_extra": _missing_of_extra(),
        "machine": _machine(),
        "self_check": _check_arithmetic(),
    }
    if as_json:
        print_json(report)
    else:
        print_facts(report["versions"])
        states = [
            [extra, _state(extra, names)] for extra, names in report["missing_of_extra"].items()
        ]
        print_table(["extra", "state"], states)
        print_facts(report["machine"] | {"self-check": report["self_check"]["sentence"]})
    if not report["self_check"]["passed"]:
        raise Exit(1)


def _machine() -> dict[str, str]:
    from hardmax._float.search import TRIED_NUMBA, has_tried_numba
    from hardmax._kernels.parallel import max_threads

    facts = {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count() or 1),
        "threads used": str(max_threads()),
        "gpu": _gpu(),
    }
    if not has_tried_numba():
        tried = " and ".join(sorted(TRIED_NUMBA))
        facts["slower"] = f"large clouds in many dimensions; the fast search is for numba {tried}"
    return facts


def _state(extra: str, missing: list[str]) -> str:
    if not missing:
        return "installed"
    return f"missing {', '.join(missing)}: {how_to_install(extra)}"


def _version(distribution: str) -> str:
    from importlib.metadata import (  # takes a tenth of the time of `hardmax --help`
        PackageNotFoundError,
        version,
    )

    try:
        return version(distribution)
    except PackageNotFoundError:
        return MISSING


def _missing_of_extra() -> dict[str, list[str]]:
    """What each extra needs and is not installed; empty if the package itself is not installed."""
    from importlib.metadata import requires

    if _version("hardmax") == MISSING:
        return {}
    missing: dict[str, list[str]] = {}
    for requirement in requires("hardmax") or []:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        only_on = re.search(r"sys_platform == ['\"](\w+)['\"]", requirement)
        if not name or not extra or extra[1] == "all":
            continue
        of_extra = missing.setdefault(extra[1], [])
        is_for_others = only_on is not None and only_on[1] != sys.platform
        if not is_for_others and _version(name[0]) == MISSING:
            of_extra.append(name[0])
    return missing


def _gpu() -> str:
    if shutil.which("nvidia-smi") is None:
        return "none found"
    if _version("torch") == MISSING:
        return "found, but torch is not installed"
    import torch  # slow, so only where there is a GPU to ask about

    return (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else "found, but torch cannot use it"
    )


def _compile_kernels() -> None:
    """Compile, and cache, what large clouds, batches of clouds and texts call."""
    import numpy as np

    from hardmax import Dynamics, limit, load_model

    draw = np.random.default_rng(0).standard_normal
    for shape in ((500, 2), (5000, 3), (2000, 10), (100, 20, 2)):
        limit(draw(shape), Dynamics(1))
    model, text = load_model("sentiment-en"), "An awful script, but the cast is great. "
    model.predict([text] * 2000)
    model.explain(text * 1000)


def _check_arithmetic() -> dict[str, Any]:
    """Run a cloud on which floats go wrong, a rotated square with two ties, and compare with the
    exact answer."""
    from hardmax import Dynamics, clouds, simulate

    layers = 100
    cloud = clouds.rotated(clouds.square(inside=[("1/2", 0), ("-1/2", 0)]))
    run = simulate(cloud, Dynamics("1/2"), layers=layers)
    # The inner tokens tend to (±1, 0), rotated; the distance shrinks by 2/3 per layer.
    towards = 1 - Fraction(1, 2) * Fraction(2, 3) ** layers
    exact = [sign * towards * Fraction(part, 5) for sign in (1, -1) for part in (3, 4)]
    gap = max(
        abs(Fraction(a) - b)
        for a, b in zip(run.at(layers)[4:].ravel().tolist(), exact, strict=True)
    )
    passed = run.certified and gap <= Fraction(run.error)
    outcome = (
        f"correct (decided by {run.details.decisions.arithmetic})"
        if passed
        else f"off by {float(gap):.1g}: please report it"
    )
    return {
        "passed": passed,
        "sentence": f"rotated square with ties that floating point loses: {outcome}",
    }
