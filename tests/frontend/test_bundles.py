"""The built parts: one module each, without globals, markup or requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from segviz import frontend
from segviz.frontend import script, stylesheet

BUILT = Path(frontend.__file__).parent / "dist"
SCRIPTS = sorted(path.stem for path in BUILT.glob("*.js"))
SHEETS = sorted(path.stem for path in BUILT.glob("*.css"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_module_without_globals_or_markup(name: str) -> None:
    # A name of XML, which nothing asks for.
    code = script(name).replace('"http://www.w3.org/2000/svg"', "")
    assert code.count("export{") == (name != "export_page")
    assert not re.search(r"\bimport\b\s*[({*\"']", code)
    for banned in ("innerHTML", "insertAdjacentHTML", "eval(", "window.", "http://", "https://"):
        assert banned not in code
    # Inside of an HTML page these would end or hide the script.
    assert "</script" not in code.lower()
    assert "<!--" not in code


@pytest.mark.parametrize("name", SCRIPTS)
def test_streamlit_takes_it_for_text_not_for_a_path(name: str) -> None:
    assert "\n" in script(name).strip()


@pytest.mark.parametrize("name", SHEETS)
def test_a_style_sheet_asks_for_nothing(name: str) -> None:
    assert "url(" not in stylesheet(name)
    assert "@import" not in stylesheet(name)
    assert "\n" in stylesheet(name).strip()
