"""Find the fewest words that change the label of a text.

Words are removed, or replaced with those of --replace. Prints the labels before and after, and the
words. If none gives another label, it names those without which the text is undecided. The exit
code is 1 if no set of words gives another label or the text is undecided already, and 3 if none was
found but not all could be tried."""

from argparse import Namespace

from hardmax.cli import options as opt
from hardmax.cli.output import print_json, print_text

NOT_FOUND, UNDECIDED = 1, 3
OPTIONS = {
    **opt.TEXT,
    "--replace": opt.value("WORD", "Replace words with it instead; repeatable.", action="append"),
    "--to": opt.value("CLASS", "Label to reach; any other by default."),
    "--protected": opt.value("WORD", "A word that must stay; repeatable.", action="append"),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    text = opt.read_text(args.TEXT, args.file)

    from hardmax.text.shipped import load_model  # only now: it takes a while to import

    model = load_model(args.model)
    classes = {str(label): label for label in model.classes}  # labels may be numbers
    to = classes.get(args.to, args.to)
    found = model.flip(text, replacements=args.replace, to=to, protected=args.protected or ())
    if args.json:
        print_json(model._made_by | found.to_dict())
    else:
        print_text(found)
    if found.found:
        return 0
    return NOT_FOUND if found.proved_smallest else UNDECIDED
