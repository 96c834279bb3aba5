"""Write a page that runs hardmax attention in any browser, without a server or a network.

Drag tokens and watch the leaders change; type a text and see why a model gives it its label. It
contains the model sentiment-en unless --model is given; the page also takes CSV files and model
folders that are dropped on it."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify

OPTIONS = {
    "-o --output": opt.target("The .html file.", ".html", ".htm", default="page.html"),
    "--model": {"action": "append", "help": "Model to put in, or none; repeatable."},
    "--cloud": opt.value("FILE", "Tokens to begin with."),
    **opt.COLUMNS,
    **opt.LAYER,
    "--text": opt.value("TEXT", "Text to begin with; - reads stdin."),
}


def run(args: Namespace) -> None:
    """The command."""
    names = [name for name in args.model or [opt.DEFAULT_MODEL] if name != "none"]
    # The room of what was asked for: by default something moves at once.
    for_texts = args.text is not None or (args.model and names)
    data: dict[str, Any] = {"room": "reviews" if for_texts and not args.cloud else "dynamics"}
    if args.text is not None:
        data["text"] = opt.read_text(args.text, None)

    from hardmax.page import read_data, write_page  # only now: numpy takes a while to import

    layer = [getattr(args, name) for name in opt.PARTS]
    if args.cloud is not None:
        from hardmax.io import read_cloud

        args.alpha = args.alpha or "1/2"
        tokens = read_cloud(args.cloud, columns=args.columns)
        data["cloud"] = read_data(tokens, opt.read_dynamics(args))
        data["cloud"]["name"] = Path(args.cloud).stem
    elif args.columns or any(layer):
        raise InputError("A layer belongs to a cloud: name its file with `--cloud`.")
    if names:
        from hardmax.text.page import pack
        from hardmax.text.shipped import load_model

        data["models"] = [pack(load_model(name)) for name in names]
    write_page(args.output, data)
    notify(f"wrote {args.output}")
