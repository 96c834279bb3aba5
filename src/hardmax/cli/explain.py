"""Explain why a model gives a text its label.

Prints the label, its probability, and the votes of the words, which add up to the score. The page
has the same: it reveals the words of this text and nothing else of the vocabulary."""

from argparse import Namespace

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_json, print_text

OPTIONS = {
    **opt.TEXT,
    "--html": opt.target("Write a .html page.", ".html", ".htm"),
    "--try": opt.flag("Put the model into the page, with its vocabulary, to try other words."),
    **opt.JSON,
}


def run(args: Namespace) -> None:
    """The command."""
    interactive = vars(args)["try"]
    if interactive and args.html is None:
        raise InputError("`--try` is for a page: name its file with --html FILE.")
    text = opt.read_text(args.TEXT, args.file)

    from hardmax.text.shipped import load_model  # only now: it takes a while to import

    model = load_model(args.model)
    explanation = model.explain(text)
    if interactive:
        from hardmax.text.page import gives_away

        notify(f"{args.html} {gives_away(model)}")
    if args.html is not None:
        explanation.save(args.html, interactive=interactive)
        notify(f"wrote {args.html}")
    if args.json:
        print_json(explanation.to_dict())
    else:
        print_text(explanation)
