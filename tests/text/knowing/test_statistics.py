"""How many leaders texts have, counted from explanations, one by one; and the picture."""

from dataclasses import replace

import numpy as np
import pytest
from text.evaluation.test_standing import BAD, GOOD, MODEL

from hardmax._validation import InputError
from hardmax.paper.results.table1 import summary
from hardmax.text.evaluation.card_page import card_page
from hardmax.text.evaluation.measuring import evaluate_model
from hardmax.text.knowing.counting import count_leaders

TEXTS = [GOOD, BAD, "great great awful", "", "unheard-of words"]


@pytest.mark.parametrize("model", [MODEL, replace(MODEL, extra=None), replace(MODEL, decoder=[[4.0, 1.0]])])
def test_it_is_what_explanations_say_one_by_one(model):
    told = [model.explain(text) for text in TEXTS]
    found = model.leader_statistics(TEXTS)
    leaders = [len(each.leaders) for each in told]
    assert (found.texts, found.fewest, found.most) == (len(TEXTS), min(leaders), max(leaders))
    assert found.mean == pytest.approx(np.mean(leaders))
    assert found.deviation == pytest.approx(np.std(leaders))
    spread = {found.fewest + more: texts for more, texts in enumerate(found.distribution) if texts}
    assert spread == {number: leaders.count(number) for number in set(leaders)}
    words = [sum(not (model.has_neutral and word.places.size == 0) for word in each.ledger) for each in told]
    assert found.share_of_words == pytest.approx(np.mean([n / w for n, w in zip(leaders, words, strict=True) if w]))
    assert found.mass == pytest.approx(np.mean([sum(leader.mass for leader in each.leaders) for each in told]))
    assert found.words_that_count == pytest.approx(np.mean([len(each.active) for each in told]))
    for leader in found.leaders:
        assert leader.texts == sum(leader.word in [own.word for own in each.leaders] for each in told)


def test_it_counts_as_the_table_of_the_paper_does():
    document = count_leaders(MODEL.analyse(TEXTS), without=len(MODEL.vocabulary)).document("leaders", 8)
    found = MODEL.leader_statistics(TEXTS)
    assert list(found.distribution) == document["reviews"]
    assert summary(document) == {
        "mean": round(found.mean, 4),
        "deviation": round(found.deviation, 4),
        "most": found.most,
    }
    assert document["share_from_start"] == round(found.share_from_start, 6)


def test_all_of_it_is_plain_data_and_a_line():
    found = MODEL.leader_statistics(TEXTS)
    assert found.to_dict()["leaders"][0]["word"] == found.leaders[0].word
    assert str(found).startswith("5 texts: ")
    assert "\n" not in str(found)


def test_without_a_text_there_is_nothing_to_count():
    with pytest.raises(InputError, match="`texts` is empty"):
        MODEL.leader_statistics([])


def test_the_words_that_lead_are_bars_the_most_frequent_on_top():
    pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    from matplotlib import pyplot
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    found = MODEL.leader_statistics(TEXTS)
    ax = found.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == [leader.word for leader in found.leaders]
    widths = [bar.get_bbox().width for bar in ax.patches if isinstance(bar, Rectangle)]
    assert widths == pytest.approx([100 * each.share for each in found.leaders])
    assert ax.yaxis_inverted()
    pyplot.close("all")
    given = Figure().add_subplot()
    assert found.draw(given, first=1) is given
    assert len(given.patches) == 1
    with pytest.raises(InputError, match="nothing to draw"):
        MODEL.leader_statistics([""]).draw()


def test_the_card_tells_how_many_words_lead_a_text():
    texts = [GOOD, BAD]
    page = card_page(MODEL, "model", texts, evaluate_model(MODEL, texts, [MODEL.classes[1], MODEL.classes[0]]))
    assert "A text has 1.0 ± 0.0 leaders, the neutral one not counted, from 1 to 1" in page


def test_a_new_figure_is_made_as_pyplot_is_set_and_not_in_our_look(monkeypatch: pytest.MonkeyPatch):
    matplotlib = pytest.importorskip("matplotlib", reason="the extra `figures` is not installed")
    from matplotlib import pyplot

    make, seen, before = pyplot.figure, [], dict(matplotlib.rcParams)
    monkeypatch.setattr(pyplot, "figure", lambda *a, **k: (seen.append(dict(matplotlib.rcParams)), make(*a, **k))[1])
    MODEL.leader_statistics(TEXTS).draw()
    pyplot.close("all")
    assert seen == [before]
