import os
from contextlib import suppress
from types import SimpleNamespace

# Triton's interpreter patches its language for each kernel and each function that one calls, which
# takes nearly half of the time of these tests: here it does so once. A GPU does not check whether
# integers overflow, either.
if os.environ.get("TRITON_INTERPRET"):
    with suppress(ImportError):
        import triton.language as tl
        from triton.runtime import interpreter

        interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
        interpreter._patch_lang = lambda fn: interpreter._LangPatchScope()
        object.__setattr__(interpreter.interpreter_builder.options, "sanitize_overflow", False)
