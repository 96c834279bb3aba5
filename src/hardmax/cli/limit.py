"""Find where every token ends after infinitely many layers.

Prints every limit and its kind, which tokens lead, and whether the theorem applies. Gives up after
10,000 layers, or 500 if the theorem does not apply, unless --max-layers is given. `hardmax verify`
checks the proof."""

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax.infinite_depth import Limit

NEAR = "1e-6"  # layers are counted to this distance from the limit
ABOUT = ("n", "d", *opt.PARTS, "leaders", "settled_at", f"layers_to_{NEAR}")
ABOUT += ("stop_reason", "proved", "limit_error")
OPTIONS = {
    **opt.CLOUD,
    **opt.LAYER,
    **opt.ENGINE,
    **opt.EXACT,
    "--max-layers": opt.number("Give up after this many layers."),
    "--check": opt.flag("Check every statement of the theorem on the cloud."),
    "--certificate": opt.target("Write a proof to a .json file, for `hardmax verify`.", ".json"),
    **opt.PICTURE,
    "-o --output": opt.value("FILE", "Write a .csv file."),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    dynamics = opt.read_dynamics(args)
    if args.output is not None and not args.output.endswith(".csv"):
        raise InputError(f"`output` must end in .csv, not {args.output!r}.")
    tokens, many = opt.read_tokens(args)
    for name in ("certificate", "picture"):
        if many and getattr(args, name) is not None:
            raise InputError(f"`{name}` is for one cloud, but there are {len(tokens)}.")
    # Only now: scipy takes most of a second to import.
    from hardmax.infinite_depth import limit, limits
    from hardmax.theorem import check_theorem

    how = {"max_layers": args.max_layers, "arithmetic": args.arithmetic}
    find: Any = limits if many else limit
    result = find(tokens, dynamics, **how, engine=opt.choose_engine(args))
    each: list[Limit] = list(result) if many else [result]
    reports = [check_theorem(lim) for lim in each] if args.check else []
    # First the certificate: if there is no proof, nothing is written.
    if args.certificate is not None:
        opt.save(result.prove(), args.certificate)
    if args.picture is not None:
        opt.write_picture(args.picture, result.plot().figure)
    found = [document(lim, args.exact) for lim in each]
    if args.output is not None:
        opt.save(result, args.output, [row for one in found for row in one["limit_points"]])
    for one, report in zip(found, reports, strict=False):
        one["check"] = [asdict(statement) for statement in report]
    if args.json:
        out.print_json({"clouds": found} if many else found[0])
        return int(not all(reports))
    if args.output is None and many:
        out.print_clouds(found, "n", "settled_at", "arithmetic", "leaders")
    elif args.output is None:
        show(found[0])
    checks = [
        [cloud, statement.claim, statement.verdict, statement.detail]
        for cloud, report in enumerate(reports)
        for statement in report
    ]
    if checks:
        out.print_table(["cloud", "statement", "verdict", "detail"], checks)
    return int(not all(reports))


def document(lim: "Limit", exact: bool = False) -> dict[str, Any]:
    """Everything about a limit, for JSON."""
    from hardmax.theorem import theorem_reason

    run, clusters = lim.run, lim.clusters
    reason = theorem_reason(lim)
    last = run.layers if run.settled_at is None else "limit"
    places = opt.rows_of(run.at(last, exact=exact), exact)
    labels = clusters.labels.tolist()
    points = [places[labels.index(cluster)] for cluster in range(len(clusters))]
    found = zip(points, clusters.sizes.tolist(), clusters.kinds, strict=True)
    has_limits = lim.settled_at is not None and not len(run.moving)
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
        "clusters": [
            {"point": point, "size": size, "kind": str(kind)} for point, size, kind in found
        ],
        "labels": labels,
        "limit_points": places,
    }


def show(about: dict[str, Any]) -> None:
    """Print the facts, then the clusters."""
    about = about | {"proved": about["certified"]}
    out.print_facts(about, *ABOUT, "theorem_applies", "theorem_reason", "arithmetic")
    tokens: list[list[int]] = [[] for _ in about["clusters"]]
    for token, label in enumerate(about["labels"]):
        tokens[label].append(token)
    header = ["cluster", *opt.coordinates(about["d"]), "kind", "size", "tokens"]
    rows = []
    for number, (one, members) in enumerate(zip(about["clusters"], tokens, strict=True)):
        rows.append([number, *one["point"], one["kind"], one["size"], members])
    out.print_table(header, rows)
