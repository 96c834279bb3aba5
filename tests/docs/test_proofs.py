"""What docs/certificate.md says is proved is there: theorems in proofs/, functions in the checker.

`make proofs` checks the proofs themselves."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "certificate.md").read_text(encoding="utf-8")
CHECKER = (ROOT / "src" / "hardmax" / "certificate.py").read_text(encoding="utf-8")
PROOFS = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("proofs/*.v"))


def column(number: int) -> set[str]:
    """The names in a column of the table of theorems."""
    rows = PAGE.split("| theorem |")[1].split("\n\n")[0].splitlines()[2:]
    names = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[number])}
    assert len(names) > 5
    return names


def test_theorems_of_the_table_are_stated_and_their_assumptions_printed():
    stated = re.findall(r"^(?:Theorem|Corollary|Lemma) (\w+)", PROOFS, flags=re.M)
    printed = re.findall(r"^Print Assumptions (\w+)\.$", PROOFS, flags=re.M)
    assert column(2) <= {*stated} & {*printed}


def test_theorems_of_what_is_known_are_stated():
    row = PAGE.split("| **proved in Rocq** |")[1].partition("\n")[0]
    names = re.findall(r"`(\w+)`", row)
    assert len(names) == 4
    assert all(f"Theorem {name} " in PROOFS for name in names)


def test_functions_of_the_table_are_those_of_the_checker():
    nodes = ast.walk(ast.parse(CHECKER))
    assert column(3) <= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_no_proof_is_left_open():
    assert not re.findall(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture)\b", PROOFS)
