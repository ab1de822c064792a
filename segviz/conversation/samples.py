"""Names the conversations that come with segviz and finds their files (``sample_data``)."""

from __future__ import annotations

from pathlib import Path

TITLES = {
    "ines-theo": "Ines and Theo: a boat, a bakery, a dog",
    "noor-caleb": "Noor and Caleb: an allotment, a thesis, a podcast",
    "topic-switching": "Adversarial: the topic switches at every exchange",
    "recurrence": "Adversarial: one topic returns after long gaps",
}


def sample_path(name: str) -> Path:
    """The file of a bundled sample. ValueError lists the known names."""
    if name not in TITLES:
        raise ValueError(f"unknown sample {name!r}; choose one of {', '.join(TITLES)}")
    package = Path(__file__).resolve().parent.parent
    # In a wheel the folder lies inside the package, in the source tree beside it.
    places = (package / "sample_data", package.parent / "sample_data")
    folder = next((place for place in places if place.is_dir()), places[-1])
    return folder / f"{name}.json"
