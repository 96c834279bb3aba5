"""The language of the kernels for a GPU: triton's where it is installed, else just enough to read their files.

What is missing then is said by `hardmax.engines.gpu.tensors`, before any kernel is asked to work.
"""

# pyright: reportMissingImports=false
from types import SimpleNamespace
from typing import Any

jit: Any
tl: Any
try:
    import triton

    jit, tl = triton.jit, triton.language
except ImportError:
    jit, tl = staticmethod, SimpleNamespace(constexpr=int)
