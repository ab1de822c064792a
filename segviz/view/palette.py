"""Defines the colours of data in views and exports: ramps, sessions, levels, series.

Ramps are computed in OKLCH (Ottosson 2020), in which equal steps of lightness look equal, so that
their order is seen with any kind of colour vision. Of a signed change hatching shows the sign, too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

SMALLEST_TEXT: Final = 12
"""Smallest text of a figure, in pixels."""

_TO_CUBE_ROOTS: Final = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_TO_LINEAR_RGB: Final = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def _hex(
    lightness: NDArray[np.float64], chroma: NDArray[np.float64], hue: NDArray[np.float64]
) -> list[str]:
    """Converts n colours in OKLCH to ``#rrggbb`` strings, clipped to sRGB per channel."""
    angle = np.deg2rad(hue)
    lab = np.stack([lightness, chroma * np.cos(angle), chroma * np.sin(angle)], axis=1)
    linear = np.clip((lab @ _TO_CUBE_ROOTS.T) ** 3 @ _TO_LINEAR_RGB.T, 0.0, 1.0)
    encoded = np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * np.power(linear, 1 / 2.4) - 0.055
    )
    return ["#" + bytes(row).hex() for row in np.rint(encoded * 255).astype(np.uint8)]


def _ramp(
    count: int,
    lightness: tuple[float, float],
    chroma: tuple[float, float],
    hue: tuple[float, float],
) -> list[str]:
    """Returns a ramp of ``count`` colours, linear between two values of each OKLCH coordinate."""
    return _hex(*(np.linspace(*ends, count) for ends in (lightness, chroma, hue)))


def session_colours(n: int) -> list[str]:
    """Returns a colour for each of ``n`` sessions, from violet over teal to gold, dark to light.

    Odd sessions are lighter, so that neighbours differ without hue.
    """
    if n <= 0:
        return []
    time = np.linspace(0.0, 1.0, n) if n > 1 else np.array([0.35])
    odd = np.arange(n) % 2
    lightness = 0.47 + 0.24 * time + 0.10 * odd
    return _hex(lightness, np.full(n, 0.105), 292.0 - 200.0 * time)


RAMPS: Final = {
    "light": {
        "score": _ramp(9, (0.962, 0.33), (0.008, 0.125), (256.0, 262.0)),
        "change": _ramp(5, (0.42, 0.962), (0.13, 0.008), (8.0, 8.0))[:4]
        + _ramp(5, (0.962, 0.42), (0.004, 0.105), (228.0, 228.0)),
        "measure": _ramp(9, (0.955, 0.45), (0.02, 0.085), (168.0, 180.0)),
    },
    "dark": {
        "score": _ramp(9, (0.30, 0.91), (0.016, 0.075), (262.0, 245.0)),
        "change": _ramp(5, (0.80, 0.262), (0.13, 0.012), (8.0, 8.0))[:4]
        + _ramp(5, (0.262, 0.80), (0.008, 0.10), (228.0, 228.0)),
        "measure": _ramp(9, (0.30, 0.90), (0.035, 0.09), (182.0, 168.0)),
    },
}
"""Theme of the page to ramps of nine colours. A score: from almost the background to deep (in the
dark theme pale) blue. A signed change: decrease rose, increase blue (the hues of worse and better),
none almost the background; both hues have the same lightness for the same size. A measure from 0 to
1: pale to full green, of which even the first is visible."""


def _gold(lightness: tuple[float, ...]) -> dict[str, str]:
    """Returns the colours of the states of gold turns, by their lightness."""
    colours = _hex(
        np.array(lightness),
        np.array([0.125, 0.115, 0.13, 0.15, 0.045, 0.004]),
        np.array([72.0, 80.0, 118.0, 355.0, 85.0, 80.0]),
    )
    names = ("found", "quoted", "answered", "missed", "above", "other")
    return dict(zip(names, colours, strict=True))


GOLD_COLOURS: Final = {
    "light": _gold((0.56, 0.72, 0.64, 0.44, 0.88, 0.95)),
    "dark": _gold((0.84, 0.70, 0.78, 0.62, 0.42, 0.27)),
}
"""Theme of the page to colours of gold leaves (found, quoted by a wider node, answered by a node
above, missed), of their ancestors (above) and of other nodes. Of leaves that are not found each has
a pattern, too."""

LEVEL_COLOURS: Final = _ramp(8, (0.80, 0.38), (0.085, 0.12), (75.0, 0.0))
"""Levels 0, 1, … of a chart, sand to plum; higher levels have the last colour."""

LEVEL_SHARE: Final = 0.72
"""Opacity of ``LEVEL_COLOURS`` where levels fill the whole picture."""

SERIES: Final = tuple(
    "#307609 #6d5cbf #d17652 #6193b5 #bf789d #9f8e00 #007d5d #958c6a #0090f0 #d87800 #c01878 "
    "#10a808".split()
)
"""Colours of the series of one chart, far from those of ``MEANINGS``; mark and dash differ, too."""

SURFACE: Final = {"light": ("#ffffff", "#2f2d2b"), "dark": ("#171614", "#edebe8")}
"""Theme to the background and foreground of a page."""

MEANINGS: Final = {
    "light": {
        "gold": GOLD_COLOURS["light"]["found"],
        "enters": "#a83209",
        "leaves": "#8b3d94",
        "better": "#00689d",
        "worse": "#a5124d",
        "chosen": "#4433b8",
        "control": "#4a5666",
    },
    "dark": {
        "gold": GOLD_COLOURS["dark"]["found"],
        "enters": "#ff8a4d",
        "leaves": "#d59be0",
        "better": "#4cc4f0",
        "worse": "#ff6f9f",
        "chosen": "#9d90ff",
        "control": "#a9b5c4",
    },
}
"""Theme of the page to the one colour of each meaning, in every view, export and chart: gold
evidence; what is new, or enters the retrieved nodes; what leaves them; a setting that finds more
evidence, or less; what is chosen (a candidate, a cell); controls. Each has another sign, too."""


def css_colours(mode: str) -> dict[str, str]:
    """Returns the meanings as custom properties of CSS, ``--segviz-gold`` and so on."""
    return {f"--segviz-{name}": colour for name, colour in MEANINGS[mode].items()}


def text_on(colour: str) -> str:
    """Returns black or white, whichever reads better on ``#rrggbb`` (relative luminance, WCAG)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
