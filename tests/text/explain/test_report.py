"""Several texts on one page."""

import re

import pytest
from text.small_models import random_texts, small_model

import hardmax as hm
from hardmax._validation import InputError

MODEL = small_model()


def test_every_text_has_a_line_in_the_index_that_leads_to_it(tmp_path):
    told = [MODEL.explain(text) for text in random_texts(8)]
    hm.report(told, tmp_path / "all.html")
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    links = re.findall('<a href="#(text-[0-9]+)">', page)
    assert links == [f"text-{n}" for n in range(1, 9)]
    assert re.findall('<article class="hardmax" id="([^"]*)"', page) == links
    for why in told:
        assert f"<bdi>{why.label}</bdi>" in page


def test_a_generator_will_do(tmp_path):
    hm.report((MODEL.explain(text) for text in ("great", "awful")), tmp_path / "two.html")
    assert "2 texts" in (tmp_path / "two.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("wrong", [None, 3, "text", [], [3], MODEL.explain("great")])
def test_what_is_no_list_of_explanations_is_refused(wrong, tmp_path):
    with pytest.raises(InputError, match="`explanations`"):
        hm.report(wrong, tmp_path / "all.html")
    assert not (tmp_path / "all.html").exists()


def test_other_forms_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.html"):
        hm.report([MODEL.explain("great")], tmp_path / "all.pdf")
