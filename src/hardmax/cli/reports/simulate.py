"""What `hardmax simulate` prints: a summary for people, a document for programs. Both show the same numbers."""

from typing import TYPE_CHECKING, Any

from hardmax.cli.output import finite_or_none, is_terminal, print_facts, print_table
from hardmax.cli.reports.phrases import (
    DECIDED_BY,
    SHOWN_ROWS,
    coordinate,
    coordinates_shown,
    leaders_of,
    settled,
    size_of,
    token_list,
)

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectories, Trajectory


def document(result: "Trajectory | Trajectories") -> dict[str, Any]:
    """Everything about the run, with the tokens at its last layer, as plain data."""
    from hardmax import __version__
    from hardmax.trajectory import Trajectory

    about = {"hardmax": __version__}
    if isinstance(result, Trajectory):
        return about | _run_document(result)
    return about | {"clouds": [_run_document(run) for run in result]}


def show(result: "Trajectory | Trajectories") -> None:
    """Prints a summary and a table: of the tokens of one cloud, or of many clouds."""
    from hardmax.trajectory import Trajectory

    if isinstance(result, Trajectory):
        print_facts(_facts(result), comment="# ")
        _show_tokens(result)
    else:
        _show_clouds(result)


def _run_document(run: "Trajectory") -> dict[str, Any]:
    return run.dynamics.to_dict() | {
        "n": run.n,
        "d": run.d,
        "layers": run.layers,
        "stopped": run.stopped,
        "settled_at": run.settled_at,
        "arithmetic": run.arithmetic,
        "certified": run.certified,
        "error": finite_or_none(run.error),
        "smallest_margin": finite_or_none(run.smallest_margin),
        "decided_at": list(run.decided_at),
        "decided_by": list(run.decided_by.values()),
        "margins": [finite_or_none(margin) for margin in run.margins.tolist()],
        "leaders": run.leaders.tolist(),
        "leader_layers": run.leader_layers.tolist(),
        "tokens": run.at(run.layers).tolist(),
        "attended": [chosen.tolist() for chosen in run.attended(run.layers)],
    }


def _facts(run: "Trajectory") -> list[tuple[str, str]]:
    return [
        ("tokens", size_of(run)),
        ("alpha", str(run.dynamics.alpha)),
        ("layers", str(run.layers)),
        ("leaders", leaders_of(run)),
        ("settled at", settled(run.settled_at)),
        ("smallest margin", _margin(run)),
        ("arithmetic", DECIDED_BY[run.arithmetic]),
        ("decided by", ", ".join(dict.fromkeys(run.decided_by.values()))),
        ("stopped", run.stopped),
    ]


def _show_tokens(run: "Trajectory") -> None:
    """Where each token is at the last layer: the first of them on a terminal, all of them on a pipe."""
    shown = min(run.n, SHOWN_ROWS) if is_terminal() else run.n
    columns = coordinates_shown(run.d, beside=36)
    tokens, attended = run.at(run.layers), run.attended(run.layers)
    since = dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True))
    names = [f"z{number}" for number in range(columns)]
    more = ["…"] if columns < run.d else []
    rows = [
        [
            str(token),
            *(coordinate(value) for value in tokens[token, :columns].tolist()),
            *more,
            token_list(attended[token].tolist()),
            str(since.get(token, "")),
        ]
        for token in range(shown)
    ]
    print_table(["token", *names, *more, "attends to", "leader since"], rows, right=["token", *names, "leader since"])
    if shown < run.n:
        print(f"... {run.n - shown} more")


def _show_clouds(runs: "Trajectories") -> None:
    header = ["cloud", "tokens", "layers", "leaders", "settled at", "smallest margin", "arithmetic"]
    rows = [
        [
            str(number),
            str(run.n),
            str(run.layers),
            str(len(run.leaders)),
            "not yet" if run.settled_at is None else str(run.settled_at),
            _margin(run),
            run.arithmetic,
        ]
        for number, run in enumerate(runs)
    ]
    print_table(header, rows, right=header[:-1])


def _margin(run: "Trajectory") -> str:
    # A cloud of one point has nobody to prefer: its margin is infinite.
    margin = finite_or_none(run.smallest_margin)
    return "none (no choice to make)" if margin is None else f"{margin:.3g}" if is_terminal() else repr(margin)
