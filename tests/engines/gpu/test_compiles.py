"""Every kernel as the engine launches it, compiled for an H200 down to machine code. No GPU is
needed for that."""

# pyright: reportMissingImports=false
import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hardmax as hm

pytestmark = pytest.mark.check

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

CAPABILITY, SHARED_MEMORY = 90, 227 * 1024  # of an H200, for a program


def compile_all(folder: Path) -> None:
    """Let the engine launch its kernels; each is compiled, described in a file, and not run."""
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    from hardmax._float.solver import Undecided
    from hardmax._gpu.solver import move_once

    device: Any = SimpleNamespace(get_current_device=lambda: 0, get_current_stream=lambda device: 0)
    device.get_current_target = lambda: GPUTarget("cuda", CAPABILITY, 32)
    driver.set_active(device)
    launch: Any = JITFunction.run

    def compile_only(self, *args, grid, warmup, **options):
        made = launch(self, *args, grid=grid, warmup=True, **options)
        described = {
            "kernel": self.__name__,
            "ptx": made.asm["ptx"],
            "shared": made.metadata.shared,
        }
        number = len(list(folder.glob("*.json")))
        (folder / f"{number}.json").write_text(
            json.dumps(described | {"bytes": len(made.asm["cubin"])})
        )

    JITFunction.run = compile_only
    for d in (16, 200):  # a dot product at once, and in steps
        with suppress(Undecided, IndexError):  # nothing is run, so that anything may come back
            move_once(torch.zeros((1000, d), dtype=torch.float64), hm.Dynamics("1/2"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, pytestconfig) -> list[dict[str, Any]]:
    """What came of each launch, in a process of its own: in this one, kernels may be
    interpreted. A kernel that was compiled without a warning is kept until it changes."""
    folder = tmp_path_factory.mktemp("compiled")
    kept = pytestconfig.rootpath / ".pytest_cache/triton"
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    command = [sys.executable, "-P", __file__, str(folder)]
    done = subprocess.run(
        command,
        env=ours | {"TRITON_CACHE_DIR": str(kept)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(file.read_text()) for file in folder.glob("*.json")]


def test_every_kernel_becomes_machine_code_without_a_warning_and_fits_into_shared_memory(compiled):
    sources = "".join(file.read_text() for file in (Path(hm.__file__).parent / "_gpu").glob("*.py"))
    launched = set(re.findall(r"\bkernels\.(\w+)\[", sources))
    assert len(launched) > 5
    assert {made["kernel"] for made in compiled} == launched
    assert all(made["bytes"] > 0 and f".target sm_{CAPABILITY}" in made["ptx"] for made in compiled)
    assert max(made["shared"] for made in compiled) <= SHARED_MEMORY


def test_the_filter_uses_tensor_cores(compiled):
    of_filter = [made["ptx"] for made in compiled if made["kernel"] == "tile_maxima"]
    on_tensor_cores = re.compile(r"wgmma\.mma_async\.\S+\.f32\.f16\.f16")
    assert [bool(on_tensor_cores.search(ptx)) for ptx in of_filter] == [True, True]


if __name__ == "__main__":
    warnings.simplefilter("error")
    compile_all(Path(sys.argv[1]))
