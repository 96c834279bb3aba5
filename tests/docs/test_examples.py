"""Recipes of the gallery run as scripts, in an empty folder; those without a test run where the
site is built."""

import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"


@pytest.mark.docs
@pytest.mark.parametrize(
    "name",
    [
        "plot_certificate",
        "plot_explain",
        "plot_notebook",
        "plot_shap_and_lime",
        "plot_train_on_a_table",
    ],
)
def test_a_recipe_runs(name, tmp_path, monkeypatch, capsys):
    missing = [extra for extra in ("matplotlib", "pandas", "sklearn") if find_spec(extra) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(RECIPES / f"{name}.py"))
    plt.close("all")
    printed = capsys.readouterr().out
    if name == "plot_certificate":
        assert "proof.json: exit code 0, accepted" in printed
        assert "forged.json: exit code 1, refused" in printed
    elif name == "plot_explain":
        assert names["total"] == pytest.approx(names["why"].logit)
        assert ("boring", "never") in [(link.word, link.modifier) for link in names["why"].links]
        assert names["points"][:, 0].tolist() == names["reading"].votes[:, 0].tolist()
    elif name == "plot_shap_and_lime":
        why = names["why"]
        assert names["votes"].sum() == pytest.approx(why.logit - why.bias)
    elif name == "plot_train_on_a_table":
        assert names["clf"].score(names["test"]["review"], names["test"]["sentiment"]) > 0.9
    assert not list(tmp_path.iterdir())
