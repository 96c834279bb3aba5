"""A sentence over HTTP: the processor time of the server of `examples/recipes/plot_server.py`, beside
the same application with an answer that is always the same; and the slowest of its first calls, 64
from 16 clients at once.

Run: pip install --group dev --group bench && python benchmarks/serve.py"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import Timing, record, show

RECIPES = Path(__file__).parents[1] / "examples" / "recipes"
CONSTANT = """
import uvicorn
from plot_server import Answer, app
@app.post("/constant")
async def constant(texts: list[str]) -> list[Answer]:
    return [Answer(label="positive", probability=0.5, decided=True)]
uvicorn.run(app, port={port}, log_level="warning")
"""
PORT, CALLS, ROUNDS, CLIENTS, FIRST = 8765, 300, 7, 16, 64
SENTENCE = "It never gets boring, and the cast is great."
PEER = "FastAPI, always the same answer"
CONTESTANTS = {
    PEER: ("/constant", [SENTENCE]),
    "label and probability": ("/predict", {"texts": [SENTENCE]}),
    "explanation": ("/explain", {"text": SENTENCE}),
}


def main() -> None:
    command = [sys.executable, "-c", CONSTANT.format(port=PORT)]
    server = subprocess.Popen(command, cwd=RECIPES)
    try:
        wait_for_start()
        with ThreadPoolExecutor(CLIENTS) as pool:
            slowest = max(pool.map(first_call, range(FIRST)))
        print(f"the slowest of {FIRST} first calls, {CLIENTS} at a time: {1e3 * slowest:.0f} ms")
        record("serve", measure(server.pid))
    finally:
        server.terminate()
        server.wait()


def measure(server: int) -> list[Timing]:
    """Processor time a call, the contestants in turn on one connection."""
    client = http.client.HTTPConnection("127.0.0.1", PORT)
    spent: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    for _ in range(ROUNDS):
        for name, (path, content) in CONTESTANTS.items():
            before = processor_time(server)
            for _ in range(CALLS):
                post(client, path, content)
            spent[name].append((processor_time(server) - before) / CALLS)
    work, timings = "a sentence over HTTP, processor time", []
    for name, seconds in spent.items():
        ratio = statistics.median(a / b for a, b in zip(seconds, spent[PEER], strict=True))
        timings.append(Timing(work, name, statistics.median(seconds), PEER, ratio))
        show(timings[-1])
    return timings


def wait_for_start() -> None:
    while True:
        try:
            return http.client.HTTPConnection("127.0.0.1", PORT).connect()
        except ConnectionRefusedError:
            time.sleep(0.1)


def first_call(_: int) -> float:
    began = time.perf_counter()
    post(http.client.HTTPConnection("127.0.0.1", PORT), *CONTESTANTS["label and probability"])
    return time.perf_counter() - began


def post(client: http.client.HTTPConnection, path: str, content: object) -> None:
    client.request("POST", path, json.dumps(content), {"Content-Type": "application/json"})
    answer = client.getresponse()
    told = answer.read()
    assert answer.status == 200, told


def processor_time(process: int) -> float:
    """Seconds of all threads of a process, as Linux counts them."""
    cells = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
