"""What `hardmax doctor` looks at. Nothing heavy is imported to find out whether it is there."""

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from fractions import Fraction
from typing import Any

CORE = ("numpy", "scipy", "numba", "safetensors", "typer", "rich")
FOR_CONTRIBUTORS = ("bench", "dev")


def examine() -> dict[str, Any]:
    """Everything that was found, as plain data, without names of machines or folders."""
    from hardmax import __version__

    return {
        "versions": {"hardmax": __version__, "python": platform.python_version()}
        | {name: version(name) for name in CORE},
        "missing_of_extra": missing_of_extra(),
        "machine": {"system": f"{platform.system()} {platform.machine()}"} | processors() | memory() | gpus(),
        "exact_arithmetic": exact_arithmetic(),
        "self_check": self_check(),
    }


def version(distribution: str) -> str:
    """Of an installed package, else "not installed"."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def missing_of_extra() -> dict[str, list[str]]:
    """For each extra what it needs and this environment has not; empty where the package itself is not installed."""
    missing: dict[str, list[str]] = {}
    try:
        requirements = importlib.metadata.requires("hardmax") or []
    except importlib.metadata.PackageNotFoundError:
        return missing
    for requirement in requirements:
        name, extra = (
            re.match(r"[\w.-]+", requirement),
            re.search(r"extra == ['\"]([\w-]+)['\"]", requirement),
        )
        if name is None or extra is None or extra[1] in FOR_CONTRIBUTORS:
            continue
        missing.setdefault(extra[1], [])
        if version(name[0]) == "not installed":
            missing[extra[1]].append(name[0])
    return missing


def processors() -> dict[str, str]:
    """Cores of the machine, and threads that the kernels use."""
    from hardmax._parallel import max_threads

    return {"cores": str(os.cpu_count() or 1), "threads used": str(max_threads())}


def memory() -> dict[str, str]:
    """Physical memory, where the system tells."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return {"memory": "unknown"}
    return {"memory": f"{total / 2**30:.1f} GiB"}


def gpus() -> dict[str, str]:
    """What nvidia-smi lists, and whether torch can use it."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return {"gpu": "none found"}
    question = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {"gpu": "nvidia-smi does not answer"}
    found = "; ".join(line.strip() for line in answer.splitlines() if line.strip())
    return {"gpu": f"{found}; {torch_sees_gpu()}" if found else "none found"}


def torch_sees_gpu() -> str:
    """Asks torch itself: its build may lack CUDA."""
    if version("torch") == "not installed":
        return "torch is not installed"
    torch = importlib.import_module("torch")  # slow, so only where there is a GPU to ask about
    return "torch sees it" if torch.cuda.is_available() else "torch does not see it"


def exact_arithmetic() -> str:
    """What multiplies integers."""
    flint = version("python-flint")
    if flint == "not installed":
        return "plain integers: correct but slower than with pip install 'hardmax[exact]'"
    return f"python-flint {flint}"


def compile_kernels() -> None:
    """Have numba compile and keep what the searches, batches of clouds and texts call."""
    import numpy as np

    from hardmax.dynamics import Dynamics
    from hardmax.limits import limit
    from hardmax.text.shipped import load

    draw = np.random.default_rng(0).standard_normal
    for shape in ((500, 2), (5000, 3), (2000, 10), (100, 20, 2)):
        limit(draw(shape), Dynamics(1))
    model, text = load("imdb-2d"), "An awful script, but the cast is great. "
    model.predict([text] * 2000)
    model.explain(text * 1000)


def self_check() -> dict[str, Any]:
    """Runs a cloud on which floats go wrong (a square with two ties, turned by fifths) and compares with the truth."""
    from hardmax import clouds
    from hardmax.dynamics import Dynamics
    from hardmax.simulation import simulate

    cloud = clouds.rotated(clouds.square(inside=[("1/2", 0), ("-1/2", 0)]))
    layers = 100
    run = simulate(cloud, Dynamics("1/2"), layers=layers)
    # The inner tokens tend to (±1, 0), turned, and what is left of the way shrinks by 2/3 a layer.
    towards = 1 - Fraction(1, 2) * Fraction(2, 3) ** layers
    truth = [[sign * towards * Fraction(3, 5), sign * towards * Fraction(4, 5)] for sign in (1, -1)]
    found = run.at(layers)[4:].tolist()
    gap = max(
        abs(Fraction(a) - b) for row, true in zip(found, truth, strict=True) for a, b in zip(row, true, strict=True)
    )
    passed = run.certified and gap <= Fraction(run.error)
    trap = "the turned square, whose ties floats lose"
    outcome = (
        f"gave the exact answer (decided by {run.arithmetic})" if passed else f"is off by {float(gap):.1g}: report it"
    )
    return {"passed": passed, "sentence": f"{trap}: certified arithmetic {outcome}"}
