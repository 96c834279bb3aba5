"""The site: `make docs` builds it, offline, into docs/_build/html."""

import logging
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole
from sphinx.writers.html5 import HTML5Translator
from sphinx_gallery.sorting import FileNameSortKey

import hardmax
from hardmax.cli.main import COMMANDS
from hardmax.page import write_page
from hardmax.text.page import pack

HERE = Path(__file__).parent

PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PROJECT["name"]
author = ", ".join(person["name"] for person in PROJECT["authors"])
version = release = hardmax.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.md5",
    "sg_execution_times.rst",
]
# `paper.md` and parts of the gallery may be missing.
suppress_warnings = ["toc.empty_glob", "config.cache"]

# `name` in a docstring is a link if the site has such a name, and code if it has not; :func:`name`
# must be there.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]

templates_path = ["_templates"]
html_theme = "furo"
html_title = f"hardmax {version}"
html_theme_options = {
    "source_repository": PROJECT["urls"]["Repository"],
    "source_branch": "main",
    "source_directory": "docs/",
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = False
html_math_renderer = "mathml"  # browsers display it without a script from the network

myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "notebooks")
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # "compiling kernels …"

# Docstrings describe types in words; annotations would repeat them in another language.
autodoc_typehints = "none"
# Not every file system tells it from `limit`.
autosummary_filename_map = {"hardmax.Limit": "hardmax.Limit_"}
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # autodoc lists them


for page in HERE.glob("gallery/*/plot_*.rst"):  # of an example that is gone
    if not (HERE.parent / "examples" / page.parent.name / f"{page.stem}.py").exists():
        page.unlink()


class FiguresFirst(FileNameSortKey):
    """Examples by name, the numbered figures before the others."""

    def __call__(self, filename: str) -> tuple[bool, str]:
        name = Path(filename).name
        return "figure" not in name, name


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": ["../examples/paper", "../examples/recipes", "../examples/beyond"],
    "within_subsection_order": FiguresFirst,
    "ignore_repr_types": r"matplotlib",
    "show_memory": False,
    "remove_config_comments": True,
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
}


def write_command_reference(_: Sphinx) -> None:
    """The `--help` of every command, which is where the options are documented, as one page."""
    exit_codes = "Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted."
    parts = [f"# Command line\n\n`hardmax COMMAND --help` prints the same. {exit_codes}\n"]
    for name in COMMANDS:
        command = [sys.executable, "-m", "hardmax", name, "--help"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        parts.append(f"## {name}\n\n```text\n{told}```\n")
    page = HERE / "cli.md"
    text = "\n".join(parts)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def write_live_page(app: Sphinx, error: Exception | None) -> None:
    """The page itself, with a model, beside the others of the site."""
    if error is None and app.builder.format == "html":
        write_page(
            Path(app.outdir, "live.html"),
            {
                "room": "dynamics",
                "home": "index.html",
                "models": [pack(hardmax.load_model("sentiment-en"))],
            },
        )


class TestLink(SphinxRole):
    """{test}`limits/test_theorem.py::test_name`: the name as a sentence, linked to the file."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        path, _, name = self.text.partition("::")
        sentence = name.removeprefix("test_").replace("_", " ")
        node = download_reference(
            self.rawtext, reftarget=f"/../tests/{path}", refdoc=self.env.docname
        )
        node += nodes.inline(text=sentence)
        return [node], []


class ExampleLink(SphinxRole):
    """{example}`paper/plot_figure_1`: the page of an example in the gallery; plain text while there
    is none."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name = self.text.rpartition("/")[2].removeprefix("plot_")
        title = re.sub(r"(?<=[a-z])(?=\d)", " ", name.replace("_", " "))
        if not (HERE.parent / "examples" / f"{self.text}.py").exists():
            return [nodes.inline(text=title)], []
        label = f"sphx_glr_gallery_{self.text.replace('/', '_')}.py"
        options = {"refdomain": "std", "reftype": "ref", "refexplicit": True, "refwarn": True}
        node = pending_xref(
            self.rawtext, reftarget=label.lower(), refdoc=self.env.docname, **options
        )
        node += nodes.inline(text=title)
        return [node], []


def mathml(formula: str, *, as_block: bool = False) -> str:
    """MathML; braces that stretch are too high in many fonts."""
    return re.sub(
        "<mo>([{}])</mo>", r'<mo stretchy="false">\1</mo>', tex2mathml(formula, as_block=as_block)
    )


def write_inline_math(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def write_math(writer: HTML5Translator, node: nodes.math_block) -> None:
    formula = mathml(node.astext(), as_block=True)
    # Wide formulas scroll; keys must reach them.
    writer.body.append(f'<div class="math" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (write_inline_math, None), (write_math, None))
    app.add_role("test", TestLink())
    app.add_role("example", ExampleLink())
    app.connect("builder-inited", write_command_reference)
    app.connect("build-finished", write_live_page)
    for name in ("hardmax", "traitlets"):  # "compiling kernels", "executing notebook"
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="the theorem does not apply to the metric")
