"""What a package's own tests need."""

from segviz_example import BySession

from segviz.contract import verify


def test_contract():
    verify(BySession())
    verify(BySession(words=1))
