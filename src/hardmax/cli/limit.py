"""`hardmax limit`: where every token ends after infinitely many layers."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardmax import __version__
from hardmax._files import write_whole
from hardmax._validation import InputError, require_extra
from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax._clusters import Kind
    from hardmax.limits import Limit, Limits
    from hardmax.theorem import TheoremReport

NEAR = "1e-6"  # layers are counted to this distance from the limit


def limit_command(
    file: opt.TokenFile,
    alpha: opt.Alpha,
    metric: opt.Metric = None,
    arithmetic: opt.Arithmetic = "certified",
    threads: opt.Threads = None,
    gpu: opt.UseGpu = False,
    max_layers: Annotated[
        int | None,
        typer.Option(help="Give up after this many layers. Default: 10000, or 500 if the theorem does not apply."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check every statement of the theorem on the cloud.")] = False,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a proof to a .json file, for `hardmax verify`.")
    ] = None,
    picture: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the limit to a .png, .svg or .pdf file.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the limits to a .csv or .npz file.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Find where every token ends after infinitely many layers.

    Prints every limit and its kind, which tokens lead and since when, and whether the theorem applies.
    """
    opt.check_target(output, "--output", ".csv", ".npz")
    opt.check_target(certificate, "--certificate", ".json")
    opt.check_target(picture, "--picture", *opt.PICTURES)
    if output is not None and output.endswith(".csv"):
        require_extra("`--output` .csv", "tables", "pandas")
    from hardmax.io import read_cloud

    dynamics, tokens = opt.read_dynamics(alpha, metric), read_cloud(file)
    for path, option in ((certificate, "--certificate"), (picture, "--picture")):
        if path is not None and getattr(tokens, "ndim", None) != 2:
            raise InputError(f"`{option}` is for one cloud, but there are {len(tokens)}: pass them one by one.")

    # Only now: scipy takes most of a second to import.
    from hardmax.limits import Limit, limit
    from hardmax.theorem import check_theorem

    engine = opt.choose_engine(gpu, threads)
    with out.progress_bar("clouds") as progress:
        result = limit(tokens, dynamics, max_layers=max_layers, arithmetic=arithmetic, engine=engine, progress=progress)
    limits = [result] if isinstance(result, Limit) else list(result)
    with out.progress_bar("statements"):
        reports = [check_theorem(lim) for lim in limits] if check else []
    for path in _write(result, output, certificate, picture):
        out.notify(f"wrote {path}")
    if as_json:
        found = [_document(lim) for lim in limits]
        for document, report in zip(found, reports, strict=False):
            document["check"] = [asdict(statement) for statement in report]
        out.print_json({"hardmax": __version__} | (found[0] if isinstance(result, Limit) else {"clouds": found}))
    else:
        if output is None:
            show = show_limit if isinstance(result, Limit) else _show_batch
            show(*limits)
        _show_checks(reports)
    if not all(reports):
        raise typer.Exit(1)


def _write(result: "Limit | Limits", output: str | None, certificate: str | None, picture: str | None) -> list[str]:
    """Make everything, then write it: if one thing cannot be made, nothing is written. Returns the paths."""
    from hardmax.limits import Limit

    contents: dict[str, bytes] = {}
    if output is not None and output.endswith(".csv"):
        contents[output] = result.to_pandas().to_csv(index=False).encode()
    if isinstance(result, Limit) and certificate is not None:
        contents[certificate] = result.certificate.to_json().encode()
    if isinstance(result, Limit) and picture is not None:
        from hardmax.figures.limit_figure import limit_figure
        from hardmax.figures.style import figure_bytes

        contents[picture] = figure_bytes(limit_figure(result), picture)
    for path, data in contents.items():
        write_whole(path, data)
    if output is None or output in contents:
        return list(contents)
    (result.run if isinstance(result, Limit) else result.runs).save(output)
    return [*contents, output]


def _document(lim: "Limit") -> dict[str, Any]:
    run, clusters = lim.run, lim.clusters
    found = zip(clusters.points.tolist(), clusters.sizes.tolist(), clusters.kinds, strict=True)
    names = ("n", "d", "layers", "settled_at", "arithmetic")
    return {
        **run.dynamics.to_dict(),
        **{name: getattr(run, name) for name in names},
        "stopped": lim.stopped,
        f"layers_to_{NEAR}": None if lim.settled_at is None else lim.layers_to(NEAR),
        "certified": lim.certified,
        "bound": out.finite_or_none(lim.bound),
        "theorem_applies": lim.theorem_applies,
        "theorem_reason": lim.theorem_reason,
        "cycle": lim.period,
        "leaders": lim.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
        "clusters": [{"point": point, "size": size} | _kind_document(kind) for point, size, kind in found],
        "labels": clusters.labels.tolist(),
        "points": lim.points.tolist(),
    }


def _kind_document(kind: "Kind") -> dict[str, Any]:
    from hardmax._clusters import FaceProjection, Vertex

    if isinstance(kind, Vertex):
        return {"kind": "vertex", "leader": kind.leader}
    if isinstance(kind, FaceProjection):
        return {"kind": "face", "vertices": list(kind.vertices), "weights": [str(weight) for weight in kind.weights]}
    return {"kind": "elsewhere"}


def show_limit(lim: "Limit") -> None:
    """Print the facts, then the clusters: the first ones on a terminal."""
    facts = out.run_facts(lim.run)
    if lim.settled_at is not None:
        facts.append((f"within {NEAR}", f"from layer {lim.layers_to(NEAR)} on"))
    else:
        facts += [("stopped", lim.run.stopped), ("limits", f"within {lim.bound:.2g} of these points")]
    if lim.period is not None:
        often = "in every layer" if lim.period == 1 else f"every {lim.period} layers"
        facts.append(("cycle", f"the same attended sets {often}"))
    facts.append(("theorem", "applies" if lim.theorem_applies else f"does not apply: {lim.theorem_reason}"))
    out.print_facts(facts, comment="# ")
    clusters = lim.clusters
    members: list[list[int]] = [[] for _ in clusters.kinds]
    for token, label in enumerate(clusters.labels.tolist()):
        members[label].append(token)
    kinds = [str(kind) for kind in clusters.kinds[: out.rows_shown(len(clusters))]]
    beside = 30 + max(map(len, kinds))
    points = [out.format_coordinates(point, beside=beside) for point in clusters.points[: len(kinds)].tolist()]
    rows = [
        [str(label), *point, kinds[label], str(len(members[label])), out.format_tokens(members[label])]
        for label, point in enumerate(points)
    ]
    names = [f"z{number}" for number in range(len(points[0]))]
    out.print_table(["cluster", *names, "kind", "size", "tokens"], rows, right=["cluster", *names, "size"])
    out.print_rest(len(clusters), "cluster")


def _show_batch(*limits: "Limit") -> None:
    header = ["cloud", "tokens", "leaders", "clusters", "settled", "arithmetic"]
    rows = [
        [
            *map(str, (number, lim.run.n, len(lim.leaders), len(lim.clusters))),
            "not yet" if lim.settled_at is None else str(lim.settled_at),
            lim.run.arithmetic,
        ]
        for number, lim in enumerate(limits)
    ]
    out.print_table(header, rows, right=header[:5])


def _show_checks(reports: "list[TheoremReport]") -> None:
    """Every statement with its verdict; for many clouds, how many statements hold in each."""
    if len(reports) == 1:
        rows = [[one.claim, one.verdict, one.detail] for one in reports[0]]
        out.print_table(["statement", "verdict", "detail"], rows)
    elif reports:
        counts = [Counter(statement.verdict for statement in report) for report in reports]
        header = ["cloud", "holds", "fails", "undecided", "does not apply"]
        rows = [[str(number), *(str(count[name]) for name in header[1:])] for number, count in enumerate(counts)]
        out.print_table(header, rows, right=header)
