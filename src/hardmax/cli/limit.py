"""Find where every token ends after infinitely many layers.

Prints every limit and its kind, which tokens lead, and whether the theorem applies. Gives up after
10,000 layers, or 500 if the theorem does not apply, unless --max-layers is given. `hardmax verify`
checks the proof.

A folder of Parquet files or a pattern such as 'points/*.parquet' is one cloud, read chunk by chunk:
it may be larger than memory, and --output is a folder for the limits."""

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax._limits.clusters import Clusters
    from hardmax.infinite_depth import Limit

NEAR = "1e-6"  # layers are counted to this distance from the limit


OPTIONS = {
    **opt.CLOUD,
    **opt.LAYER,
    **opt.ENGINE,
    "--max-layers": opt.number("Give up after this many layers."),
    "--check": opt.flag("Check every statement of the theorem on the cloud."),
    "--certificate": opt.target("Write a proof to a .json file.", ".json"),
    **opt.PICTURE,
    "-o --output": opt.value("FILE", "Write a .csv file."),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    dynamics = opt.read_dynamics(args)
    if "*" in args.FILE or Path(args.FILE).is_dir():
        return _stream(args, dynamics)
    if args.output is not None and not args.output.endswith(".csv"):
        raise InputError(f"`output` must end in .csv, not {args.output!r}.")
    from hardmax.io import read_cloud

    tokens = read_cloud(args.FILE, columns=args.columns)
    many = getattr(tokens, "ndim", None) != 2
    for name in ("certificate", "picture"):
        if many and getattr(args, name) is not None:
            raise InputError(f"`{name}` is for one cloud, but there are {len(tokens)}.")
    # Only now: scipy takes most of a second to import.
    from hardmax.infinite_depth import limit, limits
    from hardmax.theorem import check_theorem

    how = {"max_layers": args.max_layers, "arithmetic": args.arithmetic}
    how["engine"] = opt.choose_engine(args)
    with out.progress_bar("clouds") as progress:
        find = limits if many else limit
        result: Any = find(tokens, dynamics, **how, progress=progress)
    each: list[Limit] = list(result) if many else [result]
    reports = [check_theorem(lim) for lim in each] if args.check else []
    # First the certificate: if there is no proof, nothing is written.
    if args.certificate is not None:
        result.prove().save(args.certificate)
        out.notify(f"wrote {args.certificate}")
    if args.picture is not None:
        opt.write_picture(args.picture, result.plot().figure)
    if args.output is not None:
        opt.save(result, args.output)
    found = [document(lim) for lim in each]
    for one, report in zip(found, reports, strict=False):
        one["check"] = [asdict(statement) for statement in report]
    if args.json:
        out.print_json({"clouds": found} if many else found[0])
    elif args.output is None and many:
        names = ("n", "settled_at", "arithmetic", "leaders")
        rows = ([number, *map(one.get, names)] for number, one in enumerate(found))
        out.print_table(["cloud", *names], rows)
    elif args.output is None:
        show_limit(found[0])
    if reports and not args.json:
        checks = [
            [cloud, statement.claim, statement.verdict, statement.detail]
            for cloud, report in enumerate(reports)
            for statement in report
        ]
        out.print_table(["cloud", "statement", "verdict", "detail"], checks)
    return int(not all(reports))


def _stream(args: Namespace, dynamics: Any) -> int:
    """The limit of a cloud that is read chunk by chunk."""
    from hardmax.infinite_depth import limit

    if args.gpu or args.arithmetic != "certified" or args.check or args.certificate or args.picture:
        options = "a layer, --columns, --max-layers, --output and --json"
        raise InputError(f"A cloud read chunk by chunk takes {options} only.")
    how = {"columns": args.columns, "max_layers": args.max_layers}
    with out.progress_bar("tokens") as progress:
        found: Any = limit(args.FILE, dynamics, **how, progress=progress)
        if args.output is not None:
            found.write(args.output)
            out.notify(f"wrote {args.output}")
    names = ("n", "d", "settled_at", "n_in_memory")
    about = dynamics.to_dict() | {name: getattr(found, name) for name in names}
    about |= {"leaders": found.leaders.tolist(), "clusters": cluster_documents(found.clusters)}
    if args.json:
        out.print_json(about)
        return 0
    out.print_facts(about, "n", "d", "alpha", "leaders", "settled_at", "n_in_memory")
    print_clusters(about["clusters"])
    return 0


def document(lim: "Limit") -> dict[str, Any]:
    """Everything about a limit, for JSON."""
    from hardmax.theorem import theorem_reason

    run, clusters = lim.run, lim.clusters
    reason = theorem_reason(lim)
    has_limits = not (lim.settled_at is None or len(run.moving))
    return run.dynamics.to_dict() | {
        "n": run.n,
        "d": run.d,
        "layers": run.layers,
        "settled_at": run.settled_at,
        "arithmetic": run.arithmetic,
        "stop_reason": lim.stop_reason,
        f"layers_to_{NEAR}": lim.layers_to(NEAR) if has_limits else None,
        "certified": lim.certified,
        "limit_error": out.finite_or_none(lim.limit_error),
        "theorem_applies": not reason,
        "theorem_reason": reason,
        "leaders": lim.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
        "clusters": cluster_documents(clusters),
        "labels": clusters.labels.tolist(),
        "limit_points": lim.limit_points.tolist(),
    }


def cluster_documents(clusters: "Clusters") -> list[dict[str, Any]]:
    """The limit, size and kind of each cluster, for JSON."""
    points, sizes = clusters.limit_points.tolist(), clusters.sizes.tolist()
    kinds = map(str, clusters.kinds)
    found = zip(points, sizes, kinds, strict=True)
    return [{"point": point, "size": size, "kind": kind} for point, size, kind in found]


def show_limit(found: dict[str, Any]) -> None:
    """Print the facts, then the clusters."""
    names = ("n", "d", *opt.PARTS, "leaders", "settled_at", f"layers_to_{NEAR}", "stop_reason")
    out.print_facts(found, *names, "limit_error", "theorem_applies", "theorem_reason", "arithmetic")
    tokens: list[list[int]] = [[] for _ in found["clusters"]]
    for token, label in enumerate(found["labels"]):
        tokens[label].append(token)
    print_clusters(found["clusters"], tokens)


def print_clusters(clusters: list[dict[str, Any]], tokens: list[Any] | None = None) -> None:
    """Print a row for each cluster."""
    width = len(clusters[0]["point"])
    header = out.fit_columns([f"z{number}" for number in range(width)])
    rows = [
        [number, *out.fit_columns(each["point"]), each["kind"], each["size"]]
        for number, each in enumerate(clusters)
    ]
    for row, members in zip(rows, tokens or (), strict=False):
        row.append(members)
    out.print_table(["cluster", *header, "kind", "size", *["tokens"] * bool(tokens)], rows)
