"""Writing a certificate, and checking it with the standard library alone, in processor time.

python benchmarks/certificates.py [NAME …], with beginnings of names from WORK or IN_PAGE. The peer
is the limit that is proved. Each runs once, in a process of its own, at most at effort 30; `effort`
is what the check needed, of 1 that it has by default; `peak` in MB. On the page in Chromium the
check takes the processor time of all its processes, and `told` is how often the page said how far it
is. Rows go to results/certificates.csv."""

import base64
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import add_rows

import hardmax as hm
from hardmax import certificate
from hardmax.page import write_page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

COLUMNS = ("work", "limit_seconds", "write_seconds", "check_seconds", "effort", "peak", "verdict")
ENDS = re.compile("accepted|refused|undecided")
PATIENCE = 600_000  # milliseconds that the page has
MOST = 30
SIDE = 45  # 2,025 points of a lattice


def lattice() -> np.ndarray:
    """Whole numbers in a square."""
    return np.stack(np.meshgrid(*[np.arange(SIDE) - SIDE // 2] * 2), axis=-1).reshape(-1, 2) * 1.0


def sphere(d: int) -> np.ndarray:
    """Points at distance 1, as nearly as floats allow."""
    points = hm.clouds.gaussian(2000, d, 1)
    return points / np.linalg.norm(points, axis=1)[:, None]


def circle() -> np.ndarray:
    """Rational points of a circle: all scores of a point with itself tie with none."""
    t = np.arange(-1000, 1000) / 256
    return np.stack([(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)], axis=1)


WORK = {
    "Gaussian, n 1,000, d 2": lambda: hm.clouds.gaussian(1000, 2),
    "Gaussian, n 10,000, d 2": lambda: hm.clouds.gaussian(10_000, 2),
    "Gaussian, n 100,000, d 2": lambda: hm.clouds.gaussian(100_000, 2),
    "Gaussian, n 1,000,000, d 2": lambda: hm.clouds.gaussian(1_000_000, 2),
    "Gaussian, n 100,000, d 3": lambda: hm.clouds.gaussian(100_000, 3),
    "Gaussian, n 20,000, d 8": lambda: hm.clouds.gaussian(20_000, 8),
    "lattice, n 2,025, d 2": lattice,
    "sphere, n 2,000, d 2": lambda: sphere(2),
    "sphere, n 2,000, d 3": lambda: sphere(3),
    "sphere, n 2,000, d 8": lambda: sphere(8),
    "circle by a formula, n 2,000, d 2": circle,
    "a line, n 2,000, d 3": lambda: np.outer(np.arange(2000) - 700, [1.0, 2.0, -1.0]),
    "few values, n 2,000, d 3": lambda: np.random.default_rng(0).integers(-3, 4, (2000, 3)) * 1.0,
}
IN_PAGE = {f"{name}, in Chromium": name for name in WORK if name.startswith("Gaussian, n 100,")}
# Files are dropped on the page, and what it says is counted.
DROP = """async (files) => {
    const item = ([name, text]) => ({ isFile: true, isDirectory: false, name, file: (use) =>
        use(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name)) })
    const entries = files.map(item)
    const event = new Event("drop", { bubbles: true, cancelable: true })
    event.dataTransfer = { items: entries.map((each) => ({ webkitGetAsEntry: () => each })) }
    window.told = new Set()
    new MutationObserver(() => document.querySelectorAll(".hm-verdict").forEach((box) =>
        window.told.add(box.innerText))).observe(document.body, { subtree: true, childList: true,
            characterData: true })
    document.querySelector("section:not([hidden])").dispatchEvent(event)
}"""


def measure(name: str) -> dict[str, object]:
    """Limit, certificate and check of one cloud."""
    cloud, times = WORK[name](), [time.process_time()]
    lim = hm.limit(cloud, hm.Dynamics("1/2"))
    times.append(time.process_time())
    text = lim.prove().to_json()
    times.append(time.process_time())
    check = certificate.Walk(json.loads(text), MOST)
    verdict = "accepted"
    try:
        check.facts()
        check.walk()
    except certificate.Stop as stop:
        verdict = str(stop)[:60]
    times.append(time.process_time())
    limit_s, write_s, check_s = (round(x, 3) for x in np.diff(times))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    effort = round(check.work / certificate.WORK, 2)
    return dict(zip(COLUMNS, (name, limit_s, write_s, check_s, effort, peak, verdict), strict=True))


def spent() -> float:
    """Processor time of all processes that this one began, and that they began."""
    parents, times = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        parents[int(path.parent.name)] = int(fields[1])
        times[int(path.parent.name)] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    return sum(time for pid, time in times.items() if pid != os.getpid() and is_ours(pid))


def measure_page(name: str) -> dict[str, object]:
    """The check of one certificate on the page."""
    from browser import Watched, started_browser

    with tempfile.TemporaryDirectory() as folder, started_browser() as browser:
        page_file, proof = Path(folder, "page.html"), Path(folder, "proof.json")
        write_page(page_file, {})
        hm.limit(WORK[IN_PAGE[name]](), hm.Dynamics("1/2")).prove().save(proof)
        files = [[proof.name, base64.b64encode(proof.read_bytes()).decode()]]
        with Watched(browser) as watched:
            page = watched.open(page_file)
            page.wait_for_selector(".hm-verdict")
            began = spent()
            page.evaluate(DROP, files)
            verdict = page.get_by_text(ENDS).first
            verdict.wait_for(timeout=PATIENCE)
            check_s, told = round(spent() - began, 3), page.evaluate("window.told.size")
            words = verdict.inner_text()
    return {"work": name, "check_seconds": check_s, "told": told, "verdict": words[:60]}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one = sys.argv[2]
        print(json.dumps(measure_page(one) if one in IN_PAGE else measure(one)))
        sys.exit()
    chosen = [name for name in [*WORK, *IN_PAGE] if name.startswith(tuple(sys.argv[1:]) or "")]
    for name in chosen:
        told = subprocess.run(
            [sys.executable, __file__, "--one", name], check=True, capture_output=True, text=True
        )
        row = json.loads(told.stdout.splitlines()[-1])
        print(row, flush=True)
        add_rows("certificates", tuple(row), [tuple(row.values())])
