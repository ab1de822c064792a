import pytest

from segviz.text.captions import duration


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0032, "3.2 ms"), (1.2, "1 second"), (57.9, "58 seconds"), (5_400, "90 minutes")],
)
def test_a_duration_has_the_unit_that_fits(seconds, said):
    assert duration(seconds) == said
