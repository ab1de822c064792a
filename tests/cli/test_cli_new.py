"""``segviz new``: a plug-in that works as written."""

import subprocess
import sys
import tomllib

import pytest

from segviz.contract import verify
from segviz.systems import SYSTEMS


@pytest.fixture
def imports(tmp_path, monkeypatch):
    """Lets the test import what it wrote, and forgets it afterwards."""
    monkeypatch.syspath_prepend(tmp_path / "my-notes")
    kept = dict(SYSTEMS)
    yield
    SYSTEMS.clear()
    SYSTEMS.update(kept)
    for name in ("my_notes", "test_my_notes"):
        sys.modules.pop(name, None)


def test_the_plug_in_keeps_the_contract_and_its_own_tests_pass(run, tmp_path, imports):
    ran = run("new", "my-notes")
    assert ran.code == 0
    assert "python -m pytest" in ran.out  # of this environment; `pytest` may be that of another
    folder = tmp_path / "my-notes"
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["segviz.systems"] == {"my-notes": "my_notes:SYSTEM"}
    import my_notes
    import test_my_notes

    verify(my_notes.SYSTEM())
    for name in [name for name in vars(test_my_notes) if name.startswith("test_")]:
        getattr(test_my_notes, name)()


def test_it_is_compared_by_its_own_retrieval_before_it_is_installed(run, imports):
    assert run("new", "my-notes", "--json").json["folder"] == "my-notes"
    asked = ("sample:ines-theo", "--unit", "turn", "--embedder", "hashing", "--json")
    found = run("compare", *asked, "--systems", "my_notes:SYSTEM").json
    assert {row["method"] for row in found["runs"][0]["rows"]} == {"native", "collapsed"}
    again = run("compare", *asked, "--systems", "my_notes:SYSTEM,my-notes")  # under both its names
    assert (again.code, "'my-notes'" in again.err) == (2, True)


def test_the_files_are_as_ruff_writes_them(run, tmp_path):
    run("new", "my-notes")
    for check in (("check", "--isolated"), ("format", "--check", "--isolated")):
        command = [sys.executable, "-m", "ruff", *check, "-q", tmp_path / "my-notes"]
        subprocess.run(command, check=True)


@pytest.mark.parametrize("name", ["", "My", "a b", "../x", "bm25", "a" * 41, "1a"])
def test_a_name_that_cannot_be_a_system_is_refused(run, name):
    assert run("new", name).code == 2


def test_an_existing_folder_is_left_alone(run, tmp_path):
    (tmp_path / "my-notes").mkdir()
    ran = run("new", "my-notes")
    assert (ran.code, "another name" in ran.err) == (2, True)
    assert not [*(tmp_path / "my-notes").iterdir()]


@pytest.mark.parametrize("name", ["json", "segviz", "numpy"])
def test_a_plug_in_does_not_hide_a_package(run, tmp_path, name):
    ran = run("new", name)
    assert (ran.code, f"take my-{name}" in ran.err) == (2, True)
    assert not (tmp_path / name).exists()
