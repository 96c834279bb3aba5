"""
A certificate checked by a stranger
===================================

You compute where the tokens of a cloud end after infinitely many layers. Someone who trusts
neither you nor this package checks the answer with one file and the standard library."""

import json
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import hardmax as hm
from hardmax import certificate as checker

# %%
# Your side: a cloud with a repeated token and a tie, its limit, and the proof in a file.
cloud = [
    ["1", "1"],
    ["1", "1"],
    ["1", "-1"],
    ["-1", "-1"],
    ["-1", "1"],
    ["1/2", "0"],
    ["-1/2", "0"],
    ["0.3", "0.1"],
]
lim = hm.limit(cloud, hm.Dynamics(alpha="1/2"))
lim.plot()

# %%
# Token 5 attends to both right corners, of which the upper one is there twice, so it ends at that one. Token 6, on the
# other side, attends to two single corners and ends between them.
print("token 5:", lim.exact_limit_points()[5], "· token 6:", lim.exact_limit_points()[6])

# %%
# The stranger's side: an empty folder with the proof and ``certificate.py``. Python runs isolated (``-I``) and without
# installed packages (``-S``), so the checker can import only the standard library.
folder = Path(tempfile.mkdtemp())
lim.prove().save(folder / "proof.json")
shutil.copy(checker.__file__, folder / "certificate.py")


def check(name: str) -> None:
    """Run the checker as a program on a file."""
    command = [sys.executable, "-I", "-S", "certificate.py", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    print(f"{name}: exit code {done.returncode}, {done.stdout.strip()}")


check("proof.json")

# %%
# Claim something false, with a correct checksum. The checker names the first statement that is not true.
forged = json.loads((folder / "proof.json").read_text())
forged["limit_of"][5] = forged["limit_of"][0]
del forged["sha256"]
plain = json.dumps(forged, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
forged["sha256"] = sha256(plain.encode()).hexdigest()
(folder / "forged.json").write_text(json.dumps(forged))
check("forged.json")
