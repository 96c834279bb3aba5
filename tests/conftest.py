import os
import subprocess
import sys

import pytest
from browser import started_browser
from effort import HAS_GPU, THOROUGH
from hypothesis import HealthCheck, Phase, settings

from hardmax._common.progress import Reporting

# Without a GPU its kernels are interpreted. Triton asks when kernels are defined, so before any
# test imports them.
if not HAS_GPU:
    os.environ["TRITON_INTERPRET"] = "1"

# A dozen random examples, others in every run: what failed once is kept in .hypothesis and tried
# first. HARDMAX_EXAMPLES asks for more.
phases = list(Phase)
if os.environ.get("HARDMAX_MUTANT"):
    # Of a mutant (tools/mutate.py) one asks whether a test fails, not what its smallest failure is.
    phases = [Phase.explicit, Phase.generate]
settings.register_profile(
    "hardmax",
    max_examples=1000 if THOROUGH else int(os.environ.get("HARDMAX_EXAMPLES", "12")),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=phases,
)
settings.load_profile("hardmax")


def pytest_sessionstart(session: pytest.Session) -> None:
    """The usual kernels are compiled before workers start, and not by each of them."""
    workers = getattr(session.config.option, "numprocesses", None)
    if workers and not hasattr(session.config, "workerinput"):
        command = [sys.executable, "-m", "hardmax", "doctor", "--compile"]
        subprocess.run(command, check=False, capture_output=True)  # tests say what is wrong


@pytest.fixture(scope="session")
def browser():
    with started_browser() as opened:
        yield opened


@pytest.fixture
def told(monkeypatch):
    """What long work says of itself: a task, how much is done, and of how much."""
    calls = []

    def tell(self, done, total, note=""):
        calls.append((self.task, done, total))

    monkeypatch.setattr(Reporting, "__call__", tell)
    return calls
