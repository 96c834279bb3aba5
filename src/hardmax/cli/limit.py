"""`hardmax limit`: where every token ends after infinitely many layers."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax._limits.clusters import Clusters, Kind
    from hardmax.dynamics import Dynamics
    from hardmax.infinite_depth import Limit, Limits

NEAR = "1e-6"  # layers are counted to this distance from the limit
_LARGE = 2**24  # bytes of a Parquet file


def limit_command(
    file: opt.TokenFile,
    alpha: opt.Alpha = None,
    columns: opt.Columns = None,
    steps: opt.Steps = None,
    metric: opt.Metric = None,
    value: opt.Value = None,
    mask: opt.Mask = None,
    attention: opt.Attention = None,
    arithmetic: opt.Arithmetic = "certified",
    threads: opt.Threads = None,
    gpu: opt.UseGpu = False,
    max_layers: Annotated[int | None, Option(help="Give up after this many layers.")] = None,
    check: Annotated[
        bool, Option("--check", help="Check every statement of the theorem on the cloud.")
    ] = False,
    certificate: Annotated[
        str | None, Option(metavar="FILE", help="Write a proof to a .json file.")
    ] = None,
    picture: opt.Picture = None,
    output: opt.ResultFile = None,
    as_json: opt.AsJson = False,
) -> None:
    """Find where every token ends after infinitely many layers.

    Prints every limit and its kind, which tokens lead, and whether the theorem applies. Gives up
    after 10,000 layers, or 500 if the theorem does not apply, unless --max-layers is given.
    `hardmax verify` checks the proof.

    A folder of Parquet files, a pattern such as 'points/*.parquet' or a large Parquet file is one
    cloud, read chunk by chunk: it may be larger than memory, and --output is a folder for the
    limits."""
    source = Path(file)
    layer = {"steps": steps, "value": value, "mask": mask, "attention": attention}
    is_large = source.suffix == ".parquet" and source.is_file() and source.stat().st_size > _LARGE
    if "*" in file or source.is_dir() or is_large:
        if arithmetic != "certified" or any((threads, gpu, check, certificate, picture)):
            options = "--columns, --metric, --max-layers, --output and --json only"
            raise InputError(f"A cloud read chunk by chunk takes {options}.")
        how = {"columns": columns, "max_layers": max_layers}
        _stream(file, opt.read_dynamics(alpha, metric, **layer), how, output, as_json)
        return
    opt.check_target(output, "--output", ".csv")
    opt.check_target(certificate, "--certificate", ".json")
    opt.check_target(picture, "--picture", *opt.PICTURES)
    from hardmax.io import read_cloud

    dynamics = opt.read_dynamics(alpha, metric, **layer)
    tokens = read_cloud(file, columns=columns)
    for path, option in ((certificate, "--certificate"), (picture, "--picture")):
        if path is not None and getattr(tokens, "ndim", None) != 2:
            raise InputError(
                f"`{option}` is for one cloud, but there are {len(tokens)}: pass them one by one."
            )

    # Only now: scipy takes most of a second to import.
    from hardmax.infinite_depth import Limit, limit, limits
    from hardmax.theorem import check_theorem

    engine = opt.choose_engine(gpu, threads)
    with out.progress_bar("clouds") as progress:
        find = limit if getattr(tokens, "ndim", None) == 2 else limits
        result: Any = find(
            tokens,
            dynamics,
            max_layers=max_layers,
            arithmetic=arithmetic,
            engine=engine,
            progress=progress,
        )
    found = [result] if isinstance(result, Limit) else list(result)
    with out.progress_bar("statements"):
        reports = [check_theorem(lim) for lim in found] if check else []
    _write(result, output, certificate, picture)
    documents = [document(lim) for lim in found]
    for one, report in zip(documents, reports, strict=False):
        one["check"] = [asdict(statement) for statement in report]
    many = not isinstance(result, Limit)
    if as_json:
        out.print_json({"clouds": documents} if many else documents[0])
    elif output is None and not many:
        show_limit(found[0], documents[0] | layer)
    elif output is None:
        names = ("n", "settled_at", "arithmetic")
        rows = (
            [n, *map(one.get, names), len(one["leaders"]), len(one["clusters"])]
            for n, one in enumerate(documents)
        )
        out.print_table(["cloud", "tokens", "settled", "arithmetic", "leaders", "clusters"], rows)
    if check and not as_json:
        checks = (
            [n, s.claim, s.verdict, s.detail] for n, report in enumerate(reports) for s in report
        )
        header = ["cloud", "statement", "verdict", "detail"]
        out.print_table(header[not many :], (row[not many :] for row in checks))
    if not all(reports):
        raise Exit(1)


def _stream(
    file: str, dynamics: "Dynamics", how: dict[str, Any], output: str | None, as_json: bool
) -> None:
    from hardmax.infinite_depth import limit

    with out.progress_bar("tokens") as progress:
        found: Any = limit(file, dynamics, **how, progress=progress)
        if output is not None:
            found.write(output)
            out.notify(f"wrote {output}")
    names = ("n", "d", "settled_at", "n_in_memory")
    facts = {
        **dynamics.to_dict(),
        **{name: getattr(found, name) for name in names},
        "leaders": found.leaders.tolist(),
    }
    clusters = found.clusters
    if as_json:
        listed = _cluster_documents(clusters)
        out.print_json(facts | {"clusters": listed})
        return
    out.print_facts(facts, "n", "d", "alpha", "leaders", "settled_at", "n_in_memory")
    header = out.fit_columns([f"z{number}" for number in range(found.d)], beside=44)
    rows = (
        [label, *out.fit_columns(point, beside=44), str(kind), size]
        for label, (point, size, kind) in enumerate(_described(clusters))
    )
    out.print_table(["cluster", *header, "kind", "size"], rows)


def _write(
    result: "Limit | Limits", output: str | None, certificate: str | None, picture: str | None
) -> None:
    """Write what was asked for, first the certificate: if there is no proof, nothing is written."""
    from hardmax.infinite_depth import Limit

    if isinstance(result, Limit) and certificate is not None:
        result.prove().save(certificate)
        out.notify(f"wrote {certificate}")
    if isinstance(result, Limit) and picture is not None:
        from hardmax.figures.limits import limit_figure

        opt.write_picture(picture, limit_figure(result))
    if output is not None:
        opt.write_result(result, output)


def document(lim: "Limit") -> dict[str, Any]:
    """Everything about a limit, for JSON."""
    from hardmax._limits.clusters import find_period
    from hardmax.theorem import theorem_reason

    run, clusters = lim.run, lim.clusters
    reason = theorem_reason(lim)
    is_enclosed = run._arithmetic == "enclosed"
    has_limits = not (lim.settled_at is None or is_enclosed or len(run.details.moving))
    names = ("n", "d", "layers", "settled_at")
    return {
        **run.dynamics.to_dict(),
        **{name: getattr(run, name) for name in names},
        "arithmetic": run._arithmetic,
        "stop_reason": lim.stop_reason,
        f"layers_to_{NEAR}": lim.layers_to(NEAR) if has_limits else None,
        "certified": lim.certified,
        "limit_error": out.finite_or_none(lim.limit_error),
        "theorem_applies": not reason,
        "theorem_reason": reason,
        "period": find_period(run),
        "leaders": lim.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
        "clusters": _cluster_documents(clusters),
        "labels": clusters.labels.tolist(),
        "limit_points": lim.limit_points.tolist(),
    }


def _described(clusters: "Clusters") -> Iterator[tuple[list[float], int, "Kind"]]:
    """The limit, size and kind of each cluster."""
    points, sizes = clusters.limit_points.tolist(), clusters.sizes.tolist()
    return zip(points, sizes, clusters.kinds, strict=True)


def _cluster_documents(clusters: "Clusters") -> list[dict[str, Any]]:
    return [
        {"point": point, "size": size} | _kind_document(kind)
        for point, size, kind in _described(clusters)
    ]


def _kind_document(kind: "Kind") -> dict[str, Any]:
    from hardmax._limits.clusters import Cap, FaceProjection, OtherLimit, Vertex

    names = {Cap: "cap", FaceProjection: "face", OtherLimit: "elsewhere", Vertex: "vertex"}
    facts = {"kind": names[type(kind)]} | vars(kind)
    if isinstance(kind, FaceProjection):
        facts["weights"] = list(map(str, kind.weights))
    return facts


def show_limit(lim: "Limit", document: dict[str, Any]) -> None:
    """Print the facts, then the clusters."""
    names = ("n", "d", *opt.LAYER, "leaders", "settled_at", f"layers_to_{NEAR}")
    names += ("stop_reason", "limit_error", "period", "theorem_applies", "theorem_reason")
    out.print_facts(document, *names, "arithmetic")
    members: list[list[int]] = [[] for _ in lim.clusters.kinds]
    for token, label in enumerate(document["labels"]):
        members[label].append(token)
    header = out.fit_columns([f"z{number}" for number in range(lim.run.d)], beside=44)
    points = [out.fit_columns(cluster["point"], beside=44) for cluster in document["clusters"]]
    kinds = map(str, lim.clusters.kinds)
    rows = ([n, *points[n], kind, len(members[n]), members[n]] for n, kind in enumerate(kinds))
    out.print_table(["cluster", *header, "kind", "size", "tokens"], rows)
