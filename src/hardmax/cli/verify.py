"""Check the proof of a limit.

Recomputes its layers in integers. Prints accepted, with what was proved; refused, with the
statement that is false (exit code 1); or undecided, if the check would cost more than the effort
allows (exit code 3). With --of, or --alpha and other parts of a layer, a certificate of another
cloud or layer is refused."""

from argparse import Namespace
from typing import TYPE_CHECKING

from hardmax._common.files import CERTIFICATE, read_certificate, shown_name
from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_text

if TYPE_CHECKING:
    from hardmax.certificate import Verdict

REFUSED, UNDECIDED = 1, 3


OPTIONS = {
    "FILE": {"help": "A certificate of `hardmax limit`; - reads stdin."},
    "--of": opt.value("FILE", "The cloud that it must be about."),
    **opt.LAYER,
    "--effort": opt.number("Cost allowed: 10 is ten times the usual.", float, default=1.0),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    from hardmax.infinite_depth import verify

    if not args.effort > 0:
        raise InputError(f"`effort` must be above 0, not {args.effort}: 10 allows ten times more.")
    parts = [name for name in opt.PARTS if getattr(args, name) is not None]
    dynamics = opt.read_dynamics(args) if parts else None
    proof = read_certificate(args.FILE, args.effort)
    verdict = verify(proof, of=args.of, dynamics=dynamics, effort=args.effort)
    if verdict.reason.startswith("version"):
        name = shown_name(args.FILE)
        raise InputError(f"{name} has a version that this program cannot read: {CERTIFICATE}.")
    if args.json:
        told = {"accepted": verdict.accepted, "decided": verdict.decided, "reason": verdict.reason}
        print_json(told | ({"proved": dict(verdict.facts)} if verdict else {}))
        return _code(verdict)
    outcomes = {0: "accepted", REFUSED: "refused", UNDECIDED: "undecided"}
    first = f"{outcomes[_code(verdict)]}: {verdict.reason}"
    print_text("\n".join([first, *verdict.sentences()]))
    return _code(verdict)


def _code(verdict: "Verdict") -> int:
    if verdict:
        return 0
    return REFUSED if verdict.decided else UNDECIDED
