"""What `hardmax limit` prints: a summary for people, a document for programs. Both show the same numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hardmax.cli.output import finite_or_none, is_terminal, print_facts, print_table
from hardmax.cli.reports.phrases import (
    DECIDED_BY,
    SHOWN_ROWS,
    columns,
    coordinate,
    leaders_of,
    settled,
    size_of,
    some,
    token_list,
)

if TYPE_CHECKING:
    from hardmax._clusters import Kind
    from hardmax.limits import Limit
    from hardmax.theorem import TheoremReport

NEAR = "1e-6"  # layers are counted to this distance from the limit
SHOWN_VERTICES = 6
WIDE = 80


def document(result: "Limit | Sequence[Limit]", reports: "Sequence[TheoremReport] | None" = None) -> dict[str, Any]:
    """Everything about the limit, or the limits, as plain data."""
    from hardmax import __version__
    from hardmax.limits import Limit

    found = [_plain(lim) for lim in limits_of(result)]
    if reports is not None:
        found = [one | {"check": [asdict(each) for each in report]} for one, report in zip(found, reports, strict=True)]
    about = {"hardmax": __version__}
    return about | (found[0] if isinstance(result, Limit) else {"clouds": found})


def limits_of(result: "Limit | Sequence[Limit]") -> "list[Limit]":
    """One or many, as a list."""
    from hardmax.limits import Limit

    return [result] if isinstance(result, Limit) else list(result)


def _plain(lim: "Limit") -> dict[str, Any]:
    run, clusters = lim.run, lim.clusters
    found = zip(clusters.points.tolist(), clusters.sizes.tolist(), clusters.kinds, strict=True)
    return run.dynamics.to_dict() | {
        "n": run.n,
        "d": run.d,
        "layers": run.layers,
        "stopped": lim.stopped,
        "settled_at": lim.settled_at,
        f"layers_to_{NEAR}": None if lim.settled_at is None else lim.layers_to(NEAR),
        "arithmetic": lim.run.arithmetic,
        "certified": lim.certified,
        "bound": finite_or_none(lim.bound),
        "theorem_applies": lim.theorem_applies,
        "theorem_reason": lim.theorem_reason,
        "cycle": lim.period,
        "leaders": lim.leaders.tolist(),
        "leader_layers": lim.run.leader_layers.tolist(),
        "clusters": [{"point": point, "size": size} | _plain_kind(kind) for point, size, kind in found],
        "labels": clusters.labels.tolist(),
        "points": lim.points.tolist(),
    }


def _plain_kind(kind: "Kind") -> dict[str, Any]:
    from hardmax._clusters import FaceProjection, Vertex

    if isinstance(kind, Vertex):
        return {"kind": "vertex", "leader": kind.leader}
    if isinstance(kind, FaceProjection):
        return {"kind": "face", "vertices": list(kind.vertices), "weights": [str(weight) for weight in kind.weights]}
    return {"kind": "elsewhere"}


def show(result: "Limit | Sequence[Limit]") -> None:
    """Prints a summary and a table: of the clusters of one cloud, or of many clouds."""
    from hardmax.limits import Limit

    if isinstance(result, Limit):
        print_facts(_facts(result), comment="# ")
        _show_clusters(result)
    else:
        _show_clouds(result)


def show_checks(reports: "Sequence[TheoremReport]") -> None:
    """Prints every statement with what became of it; of many clouds, how many hold in each."""
    if len(reports) == 1:
        _show_check(reports[0])
        return
    rows = []
    for number, report in enumerate(reports):
        counts = Counter(statement.verdict for statement in report)
        verdicts = ("holds", "fails", "undecided", "does not apply")
        rows.append([str(number), *(str(counts[verdict]) for verdict in verdicts)])
    header = ["cloud", "hold", "fail", "undecided", "do not apply"]
    print_table(header, rows, right=header)


def _facts(lim: "Limit") -> list[tuple[str, str]]:
    known = [
        ("tokens", size_of(lim.run)),
        ("alpha", str(lim.run.dynamics.alpha)),
        ("leaders", leaders_of(lim.run)),
        ("settled at", settled(lim.settled_at)),
    ]
    if lim.settled_at is not None:
        known.append((f"within {NEAR}", f"from layer {lim.layers_to(NEAR)} on"))
    else:
        known += [("stopped", lim.run.stopped), ("limits", f"within {lim.bound:.2g} of these points")]
    if lim.period is not None:
        often = "in every layer" if lim.period == 1 else f"every {lim.period} layers"
        known.append(("cycle", f"the same attended sets {often}"))
    theorem = "applies" if lim.theorem_applies else f"does not apply: {lim.theorem_reason}"
    return [*known, ("theorem", theorem), ("arithmetic", DECIDED_BY[lim.run.arithmetic])]


def _show_clusters(lim: "Limit") -> None:
    """What each cluster is: the first of them on a terminal, all of them on a pipe."""
    clusters, members = lim.clusters, _members(lim)
    shown = min(len(clusters), SHOWN_ROWS) if is_terminal() else len(clusters)
    points = [[coordinate(value) for value in row[: _most_columns(lim)]] for row in clusters.points[:shown].tolist()]
    facts = [
        [_kind(kind), str(len(tokens)), _share(len(tokens) / lim.run.n), token_list(tokens)]
        for kind, tokens in zip(clusters.kinds[:shown], members, strict=False)
    ]
    header = ["kind", "size", "share", "tokens"]
    wide = _fitting(points, [header, *facts])
    if wide < min(lim.run.d, 2):  # where a token goes is worth more than all who go there
        header, facts = header[:-1], [row[:-1] for row in facts]
        wide = max(1, _fitting(points, [header, *facts]))
    names = [f"z{number}" for number in range(wide)]
    more = ["…"] if wide < lim.run.d else []
    rows = [[str(label), *points[label][:wide], *more, *facts[label]] for label in range(shown)]
    print_table(["cluster", *names, *more, *header], rows, right=["cluster", *names, "size", "share"])
    if shown < len(clusters):
        print(f"... {len(clusters) - shown} more")


def _most_columns(lim: "Limit") -> int:
    return columns() if is_terminal() else lim.run.d


def _fitting(points: list[list[str]], beside: list[list[str]]) -> int:
    """How many coordinates find room on the terminal beside these columns; all of them on a pipe."""
    if not is_terminal():
        return len(points[0])
    gap, frame = 3, len(" cluster   …  ")
    used = frame + sum(gap + max(map(len, column)) for column in zip(*beside, strict=True))
    for number, column in enumerate(zip(*points, strict=True)):
        used += gap + max(map(len, column))
        if used > columns():
            return number
    return len(points[0])


def _members(lim: "Limit") -> list[list[int]]:
    members: list[list[int]] = [[] for _ in range(len(lim.clusters))]
    for token, label in enumerate(lim.clusters.labels.tolist()):
        members[label].append(token)
    return members


def _kind(kind: "Kind") -> str:
    from hardmax._clusters import FaceProjection

    if isinstance(kind, FaceProjection) and is_terminal():
        return f"face {some([str(vertex) for vertex in kind.vertices], SHOWN_VERTICES)}"
    return str(kind)


def _share(share: float) -> str:
    return f"{100 * share:.1f} %" if is_terminal() else repr(share)


def _show_clouds(limits: "Sequence[Limit]") -> None:
    header = ["cloud", "tokens", "leaders", "clusters", "settled", "arithmetic", f"to {NEAR}", "theorem"]
    rows = [
        [
            str(number),
            str(lim.run.n),
            str(len(lim.leaders)),
            str(len(lim.clusters)),
            "not yet" if lim.settled_at is None else str(lim.settled_at),
            lim.run.arithmetic,
            "" if lim.settled_at is None else str(lim.layers_to(NEAR)),
            "applies" if lim.theorem_applies else "silent",
        ]
        for number, lim in enumerate(limits)
    ]
    kept = len(header) if not is_terminal() or columns() >= WIDE else header.index("arithmetic") + 1
    print_table(header[:kept], [row[:kept] for row in rows], right=["cloud", "tokens", *header[2:5], f"to {NEAR}"])


def _show_check(report: "TheoremReport") -> None:
    rows = [[one.claim, one.verdict, one.detail] for one in report]
    kept = 2 if is_terminal() and columns() < WIDE else 3
    print_table(["statement", "verdict", "seen"][:kept], [row[:kept] for row in rows])
