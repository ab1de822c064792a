"""The wheel: built, installed into an environment of its own, tried from an empty folder.

The environment borrows the packages of the running one, so that nothing is downloaded; its
own segviz comes first.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

from segviz.conversation import TITLES
from tests.data import ROOT

pytestmark = pytest.mark.slow

# A segviz on the path of modules would come before an installed one.
VARIABLES = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A copy of the sources, so that nothing is left among them, in a folder of its name."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("no pip in this environment to build a wheel with")
    source = tmp_path_factory.mktemp("holder") / "segviz"
    source.mkdir()
    skipped = shutil.ignore_patterns("__pycache__", "*.pyc", "node_modules")
    for name in ("segviz", "sample_data"):
        shutil.copytree(ROOT / name, source / name, ignore=skipped)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


@pytest.fixture(scope="module")
def wheel(clone, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", folder, clone]
    subprocess.run([sys.executable, *map(str, build)], check=True, timeout=300)
    (made,) = folder.glob("segviz_explorer-*.whl")
    return made


def test_the_source_archive_holds_what_gives_the_wheel_and_no_more(clone, wheel, tmp_path):
    for left_out in ("tests/test_a.py", ".assets/a.png", "segviz/frontend/node_modules/a.js"):
        (clone / left_out).parent.mkdir(parents=True, exist_ok=True)
        (clone / left_out).touch()
    build = [sys.executable, "-m", "hatchling", "build", "-d", tmp_path]
    subprocess.run([*build, "-t", "sdist"], cwd=clone, check=True, timeout=120)
    (archive,) = tmp_path.glob("*.tar.gz")
    assert archive.stat().st_size < 2_500_000
    shutil.unpack_archive(archive, tmp_path)
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    assert not {"tests", ".assets"} & {path.name for path in folder.iterdir()}
    assert not (folder / "segviz" / "frontend" / "node_modules").exists()
    subprocess.run([*build, "-t", "wheel"], cwd=folder, check=True, timeout=120)
    (again,) = tmp_path.glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()


def environment(place: Path, *what: object, folders: tuple[str, ...] = ()) -> Path:
    """The folder of the commands of a new environment at ``place`` that has ``what``, and what is
    in ``folders``."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True, timeout=120)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(place)}))
    # A path file adds a folder behind the environment's own; path files in it do not count,
    # so that an editable segviz there stays out.
    borrowed = [sysconfig.get_path("purelib"), *folders]
    (packages / "borrowed.pth").write_text("\n".join(borrowed))
    install = ["install", "--no-deps", "--no-build-isolation", "-q", *what]
    pip = [sys.executable, "-m", "pip", "--python", place, *install]
    subprocess.run(list(map(str, pip)), check=True, timeout=300, env=VARIABLES)
    return Path(sysconfig.get_path("scripts", "venv", {"base": str(place)}))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    return environment(tmp_path_factory.mktemp("environment"), wheel)


def test_a_script_in_the_folder_that_holds_the_clone_imports_the_package(clone, tmp_path):
    python = environment(tmp_path / "environment", "-e", clone) / "python"
    script = clone.parent / "try.py"  # beside a folder called segviz that is no package
    script.write_text("import segviz; print(segviz.__file__)")
    done = subprocess.run([python, script], env=VARIABLES, capture_output=True, text=True)
    assert Path(done.stdout.strip()) == clone / "segviz" / "__init__.py", done.stderr


def test_the_wheel_holds_every_file_of_the_package(wheel):
    packed = set(zipfile.ZipFile(wheel).namelist())
    frontend = ROOT / "segviz" / "frontend"
    for path in (ROOT / "segviz").rglob("*"):
        if not path.is_file() or {"__pycache__", "node_modules"} & {*path.parts}:
            continue
        # Of the npm package only what was built travels, with its README.
        sources = frontend in path.parents and path.suffix not in (".py", ".md")
        there = path.relative_to(ROOT).as_posix() in packed
        assert there == (not sources or path.parent == frontend / "dist"), path
    for path in (ROOT / "sample_data").iterdir():
        assert f"segviz/sample_data/{path.name}" in packed, path
    for name in TITLES:
        assert f"segviz/sample_data/{name}.json" in packed
    assert not [name for name in packed if name.startswith(("tests/", "sample_data/"))]


APP_ONLY = "streamlit plotly networkx pyvis pandas pyarrow PIL openai click httpx".split()
LIBRARY = """
import sys
for name in {absent}: sys.modules[name] = None
import segviz
from segviz.conversation import sample_path
conversation = segviz.load(sample_path("ines-theo"))[0]
memory = segviz.build(conversation)
assert memory.ask("What is the boat called now?").evidence
assert segviz.evaluate(memory, conversation.questions[:3])
memory.save("memory.json.gz")
assert len(segviz.open("memory.json.gz").steps) == len(memory.steps)
segviz.Watch("agent.jsonl")("user", "Hello")
print(segviz.__file__)
"""


def test_the_library_works_without_what_the_app_needs(installed, tmp_path):
    script = LIBRARY.format(absent=APP_ONLY)
    command = [installed / "python", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=VARIABLES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(installed.parent)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {re.split(r"[<>=;]", each)[0].strip() for each in declared["dependencies"]}
    library = (
        (ROOT / "segviz" / "memory" / "README.md")
        .read_text()
        .partition("--no-deps segviz_")[2]
        .partition("`")[0]
    )
    needed = set(library.split("pip install")[1].split())
    packages = {"pillow" if name == "PIL" else name for name in APP_ONLY} - {"httpx"}
    assert needed == named - packages


def test_the_demo_runs_from_an_empty_folder(installed, tmp_path):
    environment = {
        name: value
        for name, value in VARIABLES.items()
        if name not in ("SEGVIZ_FILE", "OPENAI_API_KEY", "SEGVIZ_API_KEY")
    } | {"SEGVIZ_CACHE": str(tmp_path / "cache")}
    empty = tmp_path / "empty"
    empty.mkdir()

    def run(*command: str) -> str:
        program, *arguments = command
        done = subprocess.run(
            [installed / program, *arguments],
            cwd=empty,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = json.loads(run("segviz", "doctor", "--json"))
    assert found["healthy"] is True
    run("segviz", "build", "sample:ines-theo", "-o", "boat.json.gz")
    asked = ("ask", "boat.json.gz", "What is the boat called now?", "--json")
    assert len(json.loads(run("segviz", *asked))["evidence"]) == 10
    run("segviz", "export", "boat.json.gz", "--format", "html", "-o", "boat.html")
    assert {path.name for path in empty.iterdir()} == {"boat.json.gz", "boat.html"}
    assert "watch" in run("segviz", "--help")
    with subprocess.Popen(
        [installed / "segviz", "--no-browser"],
        cwd=empty,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as app:
        said = app.stdout.readline()
        assert said.startswith("segviz runs at http://")
        with urllib.request.urlopen(said.split()[3], timeout=20) as reply:
            assert b"<title>" in reply.read()
        app.terminate()
        assert app.wait(20) == 0
