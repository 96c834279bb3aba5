"""The package as its users find it; `typed_user.py` has types that check."""

import pytest

import hardmax as hm


@pytest.mark.check  # with every extra
def test_every_name_that_is_listed_is_there():
    assert [name for name in dir(hm) if getattr(hm, name) is None] == []


def test_there_are_at_most_30_names_at_the_top():
    assert len(dir(hm)) <= 30
