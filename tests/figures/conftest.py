import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _no_figure_is_open():
    pyplot.switch_backend("agg")
    pyplot.close("all")
    yield
    pyplot.close("all")
