"""`hardmax models`: what ships, as a table and as a document."""

import json

from command import Command

import hardmax as hm


def test_every_model_that_ships_is_listed_as_it_is(hardmax: Command):
    told = hardmax("models", "--json")
    assert (told.code, told.err) == (0, "")
    found = {model["name"]: model for model in json.loads(told.out)}
    assert {"imdb-2d", "imdb-2d-best", "imdb-16d"} <= set(found)
    for name, facts in found.items():
        model = hm.load(name)
        assert (facts["tokens"], facts["dimension"]) == model.embeddings.shape
        assert (facts["layers"], facts["classes"]) == (model.layers, list(model.classes))
        assert facts["accuracy"] == model.metrics["accuracy"]


def test_the_table_has_a_line_for_each(hardmax: Command):
    told = hardmax("models")
    assert told.code == 0
    lines = told.out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("imdb")] == sorted(
        m for m in ("imdb-16d", "imdb-2d", "imdb-2d-best")
    )
    assert "negative, positive" in told.out
