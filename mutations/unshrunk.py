"""A plugin for the pytest runs of mutations: whether a test fails is asked, not what its smallest failure is."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import Phase, settings


def pytest_configure(config: pytest.Config) -> None:
    """Leave shrinking out, and refuse to test another copy of the package than the one that was changed."""
    # Without a deadline: the first example of a test may have to compile kernels.
    settings.register_profile("unshrunk", parent=settings(), deadline=None, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("unshrunk")
    for folder in (config.rootpath / "src").iterdir():
        spec = find_spec(folder.name) if (folder / "__init__.py").exists() else None
        if spec and spec.origin and not Path(spec.origin).is_relative_to(config.rootpath):
            raise pytest.UsageError(f"{folder.name} comes from {spec.origin}, by {sys.path}")
