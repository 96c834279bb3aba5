"""`hardmax doctor`: what is installed, what the machine offers, and whether the arithmetic holds."""

from typing import Annotated

import typer

from hardmax.cli.output import print_facts, print_json, print_table


def doctor_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    compile_now: Annotated[
        bool, typer.Option("--compile", help="Compile now what large clouds and many texts need, about a minute.")
    ] = False,
) -> None:
    """Look at the installation, and check it.

    Says what is installed, what the machine offers, and whether ties are decided exactly.
    """
    from hardmax.cli.reports import health

    if compile_now:
        health.compile_kernels()
    found = health.examine()
    if as_json:
        print_json(found)
    else:
        print_facts([*found["versions"].items()])
        print_table(
            ["extra", "state"],
            [[extra, _state(extra, missing)] for extra, missing in found["missing_of_extra"].items()],
        )
        decided = [("exact arithmetic", found["exact_arithmetic"]), ("self-check", found["self_check"]["sentence"])]
        print_facts([*found["machine"].items(), *decided])
    if not found["self_check"]["passed"]:
        raise typer.Exit(1)


def _state(extra: str, missing: list[str]) -> str:
    return "installed" if not missing else f"no {', '.join(missing)}: pip install 'hardmax[{extra}]'"
