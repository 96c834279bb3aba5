"""`hardmax simulate`: run a cloud, or many, through the layers."""

import re
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax._runs.enclosures import Enclosures
    from hardmax._runs.trajectory import Trajectory
    from hardmax.stops import Every, LastOnly, Stop


def simulate_command(
    file: opt.TokenFile,
    alpha: opt.Alpha = None,
    layers: Annotated[int | None, Option(help="Number of layers to run.")] = None,
    until_settled: Annotated[
        bool, Option("--until-settled", help="Run until no attended set changes.")
    ] = False,
    columns: opt.Columns = None,
    steps: opt.Steps = None,
    metric: opt.Metric = None,
    value: opt.Value = None,
    mask: opt.Mask = None,
    attention: opt.Attention = None,
    arithmetic: opt.Arithmetic = "certified",
    threads: opt.Threads = None,
    gpu: opt.UseGpu = False,
    record: Annotated[
        str, Option(metavar="LAYERS", help="Layers to keep: all, last, or every m-th: m.")
    ] = "all",
    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a .csv file, a .html page or a .gif.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Run a cloud, or many, through the layers.

    Prints where every token is, which tokens lead and since when, and which arithmetic decided."""
    stop, kept = _read_stop(layers, until_settled), _read_record(record)
    layer = {"steps": steps, "value": value, "mask": mask, "attention": attention}
    opt.check_target(output, "--output", ".csv", ".html", ".gif")
    from hardmax.io import read_cloud

    dynamics = opt.read_dynamics(alpha, metric, **layer)
    tokens = read_cloud(file, columns=columns)

    # Only now: scipy takes most of a second to import.
    from hardmax._runs.enclosures import Enclosures
    from hardmax._runs.trajectory import Trajectory
    from hardmax.simulation import simulate

    engine = opt.choose_engine(gpu, threads)
    with out.progress_bar("clouds") as progress:
        result = simulate(
            tokens,
            dynamics,
            layers=layers,
            stop=stop,
            arithmetic=arithmetic,
            record=kept,
            progress=progress,
            engine=engine,
        )
    is_one = isinstance(result, Trajectory)
    runs = [result] if is_one else list(result)
    if output is not None:
        opt.write_result(result, output)
    found = [_document(run) for run in runs]
    if as_json:
        out.print_json(found[0] if is_one else {"clouds": found})
    elif output is None and is_one:
        _show(found[0] | layer)
    elif output is None:
        # Softmax has no leaders, and its error is that of every coordinate.
        names = ("n", "settled_at", "smallest_margin", "arithmetic", "leaders")
        header = ["cloud", "tokens", "settled", "margin", "arithmetic", "leaders"]
        if isinstance(runs[0], Enclosures):
            names, header = ("n", "layers", "error"), ["cloud", "tokens", "layers", "error"]
        counted = (one | {"leaders": len(one.get("leaders", ()))} for one in found)
        rows = ([number, *map(one.get, names)] for number, one in enumerate(counted))
        out.print_table(header, rows)


def _read_stop(layers: int | None, until_settled: bool) -> "Stop | None":
    from hardmax.stops import Settled

    stop = Settled() if until_settled else None
    opt.check_either(layers, stop, "`--layers` (such as --layers 30) or `--until-settled`")
    return stop


def _read_record(text: str) -> "Every | LastOnly":
    from hardmax.stops import Every, LastOnly

    if text == "last":
        return LastOnly()
    if text != "all" and not re.fullmatch("0*[1-9][0-9]{0,17}", text):
        raise InputError(
            f"`--record` must be all, last, or a number m for every m-th layer, not {text!r}."
        )
    return Every(1 if text == "all" else int(text))


def _document(run: "Trajectory | Enclosures") -> dict[str, Any]:
    from hardmax._runs.enclosures import Enclosures

    if isinstance(run, Enclosures):
        n, d = run.at(0).shape
        facts = {"n": n, "d": d, "layers": run.layers, "error": run.error, "bits": run.details.bits}
        return run.dynamics.to_dict() | facts | {"tokens": run.at(run.layers).tolist()}
    decisions = run.details.decisions
    names = ("n", "d", "layers", "stop_reason", "settled_at")
    return {
        **run.dynamics.to_dict(),
        **{name: getattr(run, name) for name in names},
        "arithmetic": decisions.arithmetic,
        "certified": run.certified,
        "error": out.finite_or_none(run.error),
        "smallest_margin": out.finite_or_none(decisions.smallest_margin),
        "decided_at": list(decisions.layers),
        "decided_by": list(decisions.searches),
        "margins": [out.finite_or_none(margin) for margin in decisions.margins.tolist()],
        "leaders": run.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
        "tokens": run.at(run.layers).tolist(),
        "attended": [chosen.tolist() for chosen in run.attended(run.layers)],
    }


def _show(document: dict[str, Any]) -> None:
    """The facts, of the layer as it was typed, then every token at the last layer."""
    names = ("n", "d", *opt.LAYER, "layers", "leaders", "settled_at", "smallest_margin")
    names += ("arithmetic", "stop_reason") if "arithmetic" in document else ("error",)
    out.print_facts(document, *names)
    header = out.fit_columns([f"z{number}" for number in range(document["d"])], beside=36)
    places = [out.fit_columns(point, beside=36) for point in document["tokens"]]
    if "attended" not in document:
        out.print_table(["token", *header], ([token, *at] for token, at in enumerate(places)))
        return
    since = dict(zip(document["leaders"], document["leader_layers"], strict=True))
    attended = enumerate(document["attended"])
    rows = ([token, *places[token], chosen, since.get(token)] for token, chosen in attended)
    out.print_table(["token", *header, "attends to", "leader since"], rows)
