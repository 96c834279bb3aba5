"""A release, as far as one machine can make it: `make release`.

Builds the source archive and the wheel, has their descriptions checked, installs the wheel in an
empty environment, and runs there what a newcomer runs first. Then it prints what the changelog says
of this version. Nothing is uploaded."""

import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
FIRST_STEPS = """
import hardmax as hm
run = hm.simulate([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], hm.Dynamics("1/2"), layers=30)
assert run.certified and run.leaders.tolist() == [0, 1, 2, 3]
lim = hm.limit(hm.clouds.square(), hm.Dynamics(1))
assert hm.verify(lim.prove())
print(hm.load_model("sentiment-en").explain("A wonderful film with a great cast.").label)
"""


def main() -> int:
    """Stop at the first thing that is not as it should be."""
    version = read_version()
    notes = read_notes(version)
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    call(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    (wheel,) = DIST.glob("*.whl")
    check_contents(wheel)
    check_description(wheel, is_release=".dev" not in version)
    try_out(wheel)
    print(f"\nhardmax {version}: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB\n\n{notes}")
    return 0


def call(*command: object, cwd: Path = ROOT) -> str:
    """What a command prints; its failure is ours."""
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def read_version() -> str:
    """The version of the source."""
    source = (ROOT / "src" / "hardmax" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', source, flags=re.M)
    return version


def read_notes(version: str) -> str:
    """What the changelog says of this version. One in the making may be tried out, too."""
    heading = version
    if ".dev" in version:
        heading = f"{version.partition('.dev')[0]} (unreleased)"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, heading_line, rest = changelog.partition(f"## {heading}\n")
    if not heading_line:
        sys.exit(f"CHANGELOG.md has no part `## {heading}`: say what users notice.")
    return rest.partition("\n## ")[0].strip()


def check_contents(wheel: Path) -> None:
    """A wheel has every file of the package that git knows, and nothing else."""
    known = {
        line.removeprefix("src/") for line in call("git", "ls-files", "src/hardmax").splitlines()
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    if packed != known:
        sys.exit(f"{wheel.name} and src/hardmax differ in {sorted(packed ^ known)[:5]}.")


def check_description(wheel: Path, *, is_release: bool) -> None:
    """The package index shows no file of ours: each link and picture has to be an address. A
    release has no placeholder left in it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    relative = re.findall(r"\]\((?!https?:|#)[^)]*\)", metadata)
    if relative:
        sys.exit(f"{wheel.name} has relative links in its description: {relative[:3]}.")
    if is_release and "OWNER" in metadata:
        sys.exit("OWNER in [project.urls] of pyproject.toml is still to be replaced.")


def try_out(wheel: Path) -> None:
    """Install the wheel where nothing else is, and take the first steps there."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "empty", with_pip=True)
        python = place / "empty" / "bin" / "python"
        call(python, "-m", "pip", "install", "--quiet", wheel, cwd=place)
        print(call(python, "-m", "hardmax", "doctor", cwd=place))
        print(call(python, "-c", FIRST_STEPS, cwd=place))


if __name__ == "__main__":
    sys.exit(main())
