"""Run a cloud, or many, through the layers.

Prints where every token is, which tokens lead and since when, and which arithmetic decided."""

from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax._runs.run import Run

ABOUT = ("layers", "leaders", "settled_at", "smallest_margin", "arithmetic", "error", "stop_reason")
OPTIONS = {
    **opt.CLOUD,
    **opt.LAYER,
    "--layers": opt.number("Number of layers to run.", required=True),
    **opt.ENGINE,
    **opt.EXACT,
    "-o --output": opt.target(
        "Write a table (.csv), a page (.html) or a film (.gif, .mp4).",
        ".csv",
        ".html",
        ".gif",
        ".mp4",
    ),
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    dynamics = opt.read_dynamics(args)
    tokens, many = opt.read_tokens(args)
    # Only now: scipy takes most of a second to import.
    from hardmax.simulation import simulate

    how = {"arithmetic": args.arithmetic, "engine": opt.choose_engine(args)}
    result: Any = simulate(tokens, dynamics, layers=args.layers, **how)
    runs = result if many else [result]
    if args.output is not None:
        opt.save(result, args.output, _fractions(runs) if args.exact else None)
    found = [document(run, args.exact) for run in runs]
    if args.json:
        out.print_json({"clouds": found} if many else found[0])
    elif args.output is None and many:
        out.print_clouds(found, "n", *ABOUT[:-1])
    elif args.output is None:
        show(found[0])


def _fractions(runs: Iterable["Run"]) -> list[list[str]]:
    """Where the tokens are in each layer of each run."""
    tables = [run.at(layer, exact=True) for run in runs for layer in range(run.layers + 1)]
    return [row for table in tables for row in opt.rows_of(table, exact=True)]


def document(run: "Run", exact: bool) -> dict[str, Any]:
    """Everything about a run, for JSON."""
    last = opt.rows_of(run.at(run.layers, exact=exact), exact)
    about: dict[str, Any] = {**run.dynamics.to_dict(), "n": len(last), "d": len(last[0])}
    about |= {"layers": run.layers, "error": out.finite_or_none(run.error)}
    if run.arithmetic == "enclosed":
        return about | {"tokens": last}
    return about | {
        "stop_reason": run.stop_reason,
        "settled_at": run.settled_at,
        "arithmetic": run.arithmetic,
        "certified": run.certified,
        "smallest_margin": out.finite_or_none(float(run.margins.min())),
        "leaders": run.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
        "tokens": last,
        "attended": [chosen.tolist() for chosen in run.attended(run.layers)],
    }


def show(found: dict[str, Any]) -> None:
    """The facts, then every token at the last layer."""
    out.print_facts(found, "n", "d", *opt.PARTS, *ABOUT)
    since = dict(zip(found.get("leaders", ()), found.get("leader_layers", ()), strict=True))
    attended = found.get("attended", [None] * found["n"])
    header = ["token", *opt.coordinates(found["d"]), "attends to", "leader since"]
    rows = []
    for token, place in enumerate(found["tokens"]):
        rows.append([token, *place, attended[token], since.get(token)])
    out.print_table(header, rows)
