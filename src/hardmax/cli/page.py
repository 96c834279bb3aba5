"""`hardmax page`: one HTML file to drag tokens and to type texts in, which runs anywhere."""

import webbrowser
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify


def page_command(
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="The .html file.")
    ] = "page.html",
    model: Annotated[
        list[str] | None,
        Option(
            metavar="MODEL",
            help="Shipped model or model folder to put in; repeatable; 'none' omits models.",
        ),
    ] = None,
    cloud: Annotated[
        str | None,
        Option(metavar="FILE", help="Tokens to begin with: CSV, JSON, npy, npz or Parquet file."),
    ] = None,
    columns: opt.Columns = None,
    alpha: opt.Alpha = "1/2",
    metric: opt.Metric = None,
    value: opt.Value = None,
    mask: opt.Mask = None,
    attention: opt.Attention = None,
    text: Annotated[
        str | None, Option(metavar="TEXT", help="Text to begin with; - reads stdin.")
    ] = None,
    open_it: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a page that runs hardmax attention in any browser, without a server or a network.

    Drag tokens and watch the leaders change; type a text and see why a model gives it its label.
    Has the model sentiment-en unless --model is given; the page also takes CSV files and model
    folders that are dropped on it."""
    opt.check_target(output, "--output", ".html", ".htm")
    names = [opt.DEFAULT_MODEL] if model is None else [name for name in model if name != "none"]
    if model is not None and "none" in model and names:
        raise InputError(f"`--model` none leaves all models out, but {names[0]!r} was given, too.")
    # The room of what was asked for: by default something moves at once.
    asked_for_texts = text is not None or (model is not None and names)
    data: dict[str, Any] = {"room": "reviews" if asked_for_texts and cloud is None else "dynamics"}
    if text is not None:
        data["text"] = opt.read_text(text, None)

    from hardmax.page import write_page  # only now: numpy takes a while to import

    layer = {"value": value, "mask": mask, "attention": attention}
    if any((cloud, columns, metric, alpha != "1/2", *layer.values())):
        data["cloud"] = _read_cloud(cloud, columns, alpha, metric, layer)
    if names:
        from hardmax.text.page import pack
        from hardmax.text.shipped import load_model

        data["models"] = [pack(load_model(name)) for name in names]
    write_page(output, data)
    notify(f"wrote {output}")
    if open_it and not webbrowser.open(Path(output).resolve().as_uri()):
        notify(f"No browser could be started: open {output} in one.")


def _read_cloud(
    file: str | None,
    columns: str | None,
    alpha: str | None,
    metric: str | None,
    layer: dict[str, str | None],
) -> dict[str, Any]:
    from hardmax._layer.rules import check_dimension
    from hardmax._tokens.batches import read_batch
    from hardmax._tokens.points import merge
    from hardmax.io import read_cloud
    from hardmax.page import cloud_data

    if file is None:
        raise InputError(
            "`--alpha`, `--metric` and the like belong to a cloud: name its file with `--cloud`."
        )
    dynamics = opt.read_dynamics(alpha, metric, **layer)
    clouds, form = read_batch(read_cloud(file, columns=columns))
    if not form.is_single:
        came = f"{file!r} has {len(clouds)}"
        raise InputError(f"`--cloud` must be one cloud, but {came}: save one of them by itself.")
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    return cloud_data(merge(clouds[0]), dynamics) | {"name": Path(file).stem}
