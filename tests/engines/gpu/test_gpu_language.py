"""Without triton and torch, the files of kernels and engines for a GPU are read, and say what is missing when asked."""

import subprocess
import sys

SCRIPT = """
import sys
sys.modules.update(triton=None, torch=None)

from importlib import import_module
from pathlib import Path

import hardmax.engines
import hardmax._validation

engines = Path(hardmax.engines.__path__[0])
names = [f"gpu.{file.stem}" for file in engines.glob("gpu/*.py") if file.stem != "__init__"]
names += [f"gpu.kernels.{file.stem}" for file in engines.glob("gpu/kernels/*.py") if file.stem != "__init__"]
assert "gpu.batch" in names and "gpu.kernels.clouds" in names, names
for name in names:
    import_module(f"hardmax.engines.{name}")
try:
    hardmax._gpu.batch.walk_batch_gpu(None, None, hardmax.Dynamics("1/2"), 1)
except hardmax._validation.MissingExtra as missing:
    print(missing)
"""


def test_kernels_can_be_read_where_triton_is_missing_and_the_extra_is_named():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert "hardmax[gpu]" in done.stdout, done.stderr
