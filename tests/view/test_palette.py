"""Colours: order, separation of neighbours and contrast, also without red-green vision."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from segviz.view.palette import (
    GOLD_COLOURS,
    LEVEL_COLOURS,
    MEANINGS,
    RAMPS,
    SERIES,
    SURFACE,
    session_colours,
)
from tests.data import ROOT

Floats = NDArray[np.float64]

# Viénot, Brettel & Mollon (1999): linear RGB as a deuteranope sees it.
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1]])
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colours: list[str] | tuple[str, ...]) -> Floats:
    """Hex colours as linear RGB, shape (n, 3)."""
    encoded = np.array([list(bytes.fromhex(colour[1:])) for colour in colours]) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def luminance(colours: list[str] | tuple[str, ...]) -> Floats:
    """WCAG relative luminance of each colour."""
    result: Floats = linear(colours) @ XYZ[1]
    return result


def lab(rgb: Floats) -> Floats:
    """CIELAB of linear RGB."""
    share = np.clip(rgb, 0, 1) @ XYZ.T / WHITE
    f = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    return np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
    )


def contrast(a: str, b: str) -> float:
    """WCAG contrast ratio."""
    low, high = sorted(luminance([a, b]).tolist())
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("n", [2, 6, 19, 31, 64])
@pytest.mark.parametrize("vision", ["normal", "deuteranopia", "grey"])
def test_adjacent_sessions_are_told_apart(n: int, vision: str) -> None:
    rgb = linear(session_colours(n))
    if vision == "deuteranopia":
        rgb = rgb @ DEUTERANOPIA.T
    elif vision == "grey":
        rgb = np.repeat((rgb @ XYZ[1])[:, None], 3, axis=1)
    distance = np.linalg.norm(np.diff(lab(rgb), axis=0), axis=1)
    assert distance.min() > 4.5  # 2.3 is just noticeable


@pytest.mark.parametrize("n", [8, 31])
def test_sessions_grow_lighter_with_time_on_either_phase(n: int) -> None:
    light = luminance(session_colours(n))
    assert (np.diff(light[0::2]) > 0).all()
    assert (np.diff(light[1::2]) > 0).all()


@pytest.mark.parametrize("page", ["#ffffff", "#0e1117"])
def test_leaves_stand_out_from_either_page(page: str) -> None:
    assert min(contrast(colour, page) for colour in session_colours(31)) > 1.6


def test_levels_and_scores_are_monotone_from_background_to_strong() -> None:
    assert (np.diff(luminance(LEVEL_COLOURS)) < 0).all()
    assert session_colours(0) == []
    assert len(RAMPS["light"]["score"]) == len(RAMPS["dark"]["score"]) == 9
    assert (np.diff(luminance(RAMPS["light"]["score"])) < 0).all()
    assert (np.diff(luminance(RAMPS["dark"]["score"])) > 0).all()
    for ramp, page in ((RAMPS["light"]["score"], "#ffffff"), (RAMPS["dark"]["score"], "#171614")):
        assert contrast(ramp[0], page) < 1.35
        assert contrast(ramp[-1], page) > 9


@pytest.mark.parametrize(
    ("ramp", "page"), [(RAMPS["light"]["change"], "#ffffff"), (RAMPS["dark"]["change"], "#0e1117")]
)
def test_a_change_is_told_in_size_and_sign(ramp: tuple[str, ...], page: str) -> None:
    assert len(ramp) == 9
    away = np.array([contrast(colour, page) for colour in ramp])
    assert away[4] < 1.35  # no change is almost the page
    assert (np.diff(away[:5]) < 0).all()
    assert (np.diff(away[4:]) > 0).all()
    assert away[0] / away[8] == pytest.approx(1, abs=0.4)  # both arms weigh alike
    for rgb in (linear(ramp), linear(ramp) @ DEUTERANOPIA.T):
        fall, rise = lab(rgb)[:4][::-1], lab(rgb)[5:]
        assert (np.linalg.norm(fall - rise, axis=1) > [8, 18, 28, 38]).all()


@pytest.mark.parametrize(
    ("ramp", "page"),
    [(RAMPS["light"]["measure"], "#ffffff"), (RAMPS["dark"]["measure"], "#171614")],
)
def test_coherence_is_ordered_and_never_vanishes(ramp: tuple[str, ...], page: str) -> None:
    away = np.array([contrast(colour, page) for colour in ramp])
    assert len(ramp) == 9
    assert away[0] > 1.1
    assert (np.diff(away) > 0).all()
    assert away[-1] > 5


@pytest.mark.parametrize(("theme", "page"), [("light", "#ffffff"), ("dark", "#171614")])
@pytest.mark.parametrize("vision", ["normal", "deuteranopia"])
def test_fates_of_gold_are_told_apart(theme: str, page: str, vision: str) -> None:
    colours = GOLD_COLOURS[theme]
    assert list(colours) == ["found", "quoted", "answered", "missed", "above", "other"]
    rgb = linear(list(colours.values()))
    if vision == "deuteranopia":
        rgb = rgb @ DEUTERANOPIA.T
    apart = lab(rgb)[:, None] - lab(rgb)[None]
    distance = np.linalg.norm(apart, axis=2)[np.triu_indices(6, 1)]
    assert distance.min() > 8
    # What concerns gold leaves is the strongest, what does not concern gold the faintest.
    away = [contrast(colour, page) for colour in colours.values()]
    assert min(away[:4]) > away[4] > away[5]


@pytest.mark.parametrize(("theme", "page"), [("light", "#ffffff"), ("dark", "#0e1117")])
@pytest.mark.parametrize("vision", ["normal", "deuteranopia"])
def test_every_meaning_has_a_colour_of_its_own_that_reads_on_its_page(
    theme: str, page: str, vision: str
) -> None:
    colours = MEANINGS[theme]
    names = ["gold", "enters", "leaves", "better", "worse", "chosen", "control"]
    assert list(colours) == names
    assert min(contrast(colour, page) for colour in colours.values()) > 4.5
    rgb = linear(list(colours.values()))
    if vision == "deuteranopia":
        rgb = rgb @ DEUTERANOPIA.T
    apart = lab(rgb)[:, None] - lab(rgb)[None]
    distance = np.linalg.norm(apart, axis=2)[np.triu_indices(7, 1)]
    assert distance.min() > (8 if vision == "deuteranopia" else 20)


def test_no_colour_of_a_chart_is_taken_for_a_meaning() -> None:
    plain = lab(linear([*SERIES, *LEVEL_COLOURS]))
    for theme, colours in MEANINGS.items():
        apart = plain[:, None] - lab(linear(list(colours.values())))[None]
        assert np.linalg.norm(apart, axis=2).min() > 19
        assert min(contrast(colour, SURFACE[theme][0]) for colour in SERIES) > 3
    between = lab(linear(SERIES))[:, None] - lab(linear(SERIES))[None]
    assert np.linalg.norm(between, axis=2)[np.triu_indices(len(SERIES), 1)].min() > 30


# Colours that stand for nothing: surfaces, lines, ink; those of pinned searches, which a visitor
# tells apart by their signs; the page's theme. Thumbnails are drawn below this layer, in "enters".
PLAIN = {
    "segviz/cli/serve.py": None,
    "segviz/cli/reproduce.py": {"#77736d"},
    "segviz/export/comparison.py": {"#77736d"},
    "segviz/frontend/src/canvas/colour.js": {"#000000", "#ffffff"},
    "segviz/frontend/src/canvas/search.js": {"#008f68", "#b0489a", "#0a84b5"},
    "segviz/frontend/src/canvas/theme.js": {"#ffffff", "#fafafa", "#31333f"},
    "segviz/frontend/src/export_page/recorder.js": {"#000000"},
    "segviz/tree/thumbnail.py": {MEANINGS["light"]["enters"], "#868e96"},
    "segviz/ui/pages/guide/page.py": {"#c9c5be", "#5a5751"},
    "segviz/ui/widgets/charts.py": {"#77736d", "#9a9690"},
    "segviz/ui/widgets/style.py": None,
    "segviz/view/palette.py": None,
}


def test_no_colour_is_written_outside_the_one_table() -> None:
    sources = [*(ROOT / "segviz").rglob("*.py"), *(ROOT / "segviz" / "ui").rglob("*.css")]
    source = ROOT / "segviz" / "frontend" / "src"
    sources += [*source.rglob("*.js"), *source.rglob("*.css")]
    for path in sources:
        name = path.relative_to(ROOT).as_posix()
        allowed = PLAIN.get(name, set())
        if allowed is not None:
            found = set(re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text("utf-8")))
            assert found <= allowed, name


def test_the_controls_of_the_page_have_the_colour_of_controls() -> None:
    from segviz.cli.serve import SETTINGS

    for theme, colours in MEANINGS.items():
        assert SETTINGS[f"theme.{theme}.primaryColor"] == colours["control"]
