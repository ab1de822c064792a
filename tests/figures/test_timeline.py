"""The timeline of rows with a start and a stop."""

from datetime import datetime, timedelta

from segviz.figures.timeline import timed, timeline_figure

COLOURS = {"neutral": "#777777", "ink": "#000000"}
DAY_1 = datetime(2026, 1, 1)


def test_overlapping_bars_of_a_lane_lie_on_tracks_of_their_own():
    spans = [("a", 0, 4), ("a", 2, 6), ("b", 0, 2), ("a", 4, 5)]
    rows = [{"lane": lane, "n": i, "start": x, "stop": y} for i, (lane, x, y) in enumerate(spans)]
    (bars,) = timeline_figure(rows, **COLOURS).data
    assert dict(zip(bars.text, bars.y, strict=True)) == {"0": 0, "1": 1, "3": 0, "2": 2}
    assert list(bars.base) == [0, 2, 4, 0]
    assert list(bars.x) == [4, 4, 1, 2]


def test_moments_have_an_axis_of_dates_and_an_instant_is_still_seen():
    stops = (DAY_1, DAY_1 + timedelta(days=250))
    rows = [{"lane": "x", "<b>&": "<b>&", "start": DAY_1, "stop": stop} for stop in stops]
    figure = timeline_figure(rows, **COLOURS)
    assert figure.layout.xaxis.type == "date"
    assert [length / 86_400_000 for length in figure.data[0].x] == [1, 250]
    assert list(figure.data[0].y) == [0, 1]
    assert figure.data[0].text[0] == "&lt;b>&amp;"


def test_rows_without_a_start_and_a_stop_of_one_kind_are_left_out():
    whole = {"start": 1, "stop": 2.5}
    assert timed([{"start": 1}, {"start": 1, "stop": None}, {"a": 1}, whole]) == [whole]
    dates = {"start": DAY_1, "stop": DAY_1}
    assert timed([whole, dates]) == [dates]
    assert timed([]) == []
