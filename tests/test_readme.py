"""The README's example runs as it stands, its commands are the ones CI uses, its links lead
somewhere; and what the project's files say about it agrees."""

import re
import tomllib

import pytest

import segviz
from segviz.version import DISTRIBUTION
from tests.data import ROOT, SOURCES

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [
    path
    for path in (*ROOT.glob("*.md"), *ROOT.glob(".github/*.md"), *ROOT.rglob("README.md"))
    if not {".venv", "build", "node_modules", "site-packages"} & set(path.relative_to(ROOT).parts)
]


def test_the_ten_lines_run(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "316 turns kept, 0 repaired, 0 skipped" in printed
    assert "nodes, 0 violations" in printed
    assert (tmp_path / "boat.npz").is_file()
    assert len([line for line in code.splitlines() if line.strip()]) <= 12


def test_ci_calls_the_readmes_test_command():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert '`pip install -e ".[test]" && pytest`' in README
    assert 'pip install --quiet -e ".[test]"' in script
    assert re.search(r"\bpytest\b", script)


def test_the_map_names_every_package_and_nothing_else():
    table = README.split("## Package map")[1].split("\n## ")[0]
    named = re.findall(r"^\| `([a-z_]+)/?`", table, re.MULTILINE)
    there = {
        path.stem
        for path in (ROOT / "segviz").iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or any(path.glob("*.py")))
    }
    assert len(named) == len(set(named))
    assert set(named) == there


@pytest.mark.parametrize("page", sorted(set(PAGES)), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_examples_in_pages_beside_the_code_are_python():
    for page in PAGES:
        for code in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            compile(code, str(page), "exec")
            for line in re.findall(r"^(?:from segviz.*|import segviz)$", code, re.MULTILINE):
                exec(line, {})


def test_numbers_are_those_the_benchmark_wrote():
    said = README.split("## Does it work?")[1].split("\n## ")[0]
    benchmarks = ROOT / "tests" / "benchmarks"
    measured = "".join(
        (benchmarks / "results" / f"{name}.md").read_text("utf-8")
        for name in ("recall", "ingredients", "opening", "systems", "texts", "tree_gain")
    )
    exact = re.findall(r"0\.\d{4,}", (benchmarks / "results" / "recall.json").read_text("utf-8"))
    measured += " ".join(f"{float(number):.3f}"[1:] for number in exact)
    page = (benchmarks / "README.md").read_text("utf-8")
    measured += page.split("## Measured elsewhere")[1].split("\n## ")[0]
    numbers = re.findall(r"\.\d{3}\b", said)
    assert len(numbers) >= 4
    for number in numbers:
        assert number in measured, number


def test_means_in_pages_beside_the_code_have_interval_data_and_number_of_questions():
    found, results = 0, ROOT / "tests" / "benchmarks" / "results"
    measured = "".join(path.read_text("utf-8") for path in results.glob("*.md"))
    measured = re.sub(r"\b0(?=\.)", "", measured)
    for path in PAGES:
        if ROOT / "segviz" not in path.parents:
            continue
        for part in path.read_text("utf-8").split("\n\n"):
            alone = re.sub(r"\.\d{3}\s\[[^]]+\]", "", part)  # without the means with an interval
            assert not re.search(r"(?<!\d)\.\d{3}\b", alone), (path, part)
            if alone != part:
                found += 1
                means = re.findall(r"\.\d{3}\s\[[^]]+\]", part) if part[0] != "|" else []
                assert all(re.sub(r"\s", " ", mean) in measured for mean in means), (path, part)
                assert re.search(r"\d questions|\| n \|", part), (path, part)
                assert re.search("LoCoMo|LongMemEval|RealMem|conv-", part), (path, part)
    assert found


def test_versions_of_python_agree():
    assert PROJECT["requires-python"] == ">=3.11"
    assert "Python 3.11 to 3.14" in README
    doctor = (ROOT / "segviz" / "cli" / "doctor.py").read_text("utf-8")
    assert "sys.version_info >= (3, 11)" in doctor
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    assert 'python: ["3.11", "3.12", "3.13", "3.14"]' in workflow
    kinds = {name.rpartition(" ")[2] for name in PROJECT["classifiers"] if "Python :: 3." in name}
    assert kinds == {"3.11", "3.12", "3.13", "3.14"}


def test_licence_and_version_agree():
    assert PROJECT["license"] == "MIT"
    licence = (ROOT / "LICENSE").read_text("utf-8")
    assert licence.startswith("MIT License")
    assert PROJECT["authors"][0]["name"] in licence
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {segviz.__version__}\n" in citation
    assert "\nlicense: MIT\n" in citation
    assert "arXiv:2606.04555" in citation
    # BibTeX names the same version, and the same paper with the same authors.
    bibtex = (ROOT / ".github" / "citation.bib").read_text("utf-8")
    assert f"version = {{{segviz.__version__}}}" in bibtex
    assert "eprint        = {2606.04555}" in bibtex
    families = re.findall(r"family-names: (.+)", citation)
    written = re.search(r"author +=\s+\{(Liu.*?)\},", bibtex, re.S)[1]
    assert [one.partition(",")[0] for one in re.split(r"\s+and\s+", written)] == families
    assert all(re.findall(rf"title +(?:=|:) .*{title}", bibtex) for title in ("segviz", "Temporal"))
    assert f"## {segviz.__version__}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_nothing_tells_anyone_to_install_another_project():
    """``segviz`` on the package index is the name of other people's project."""
    assert PROJECT["name"] == DISTRIBUTION != "segviz"
    files = [*PAGES, *SOURCES, *ROOT.glob("*.toml"), *(ROOT / "segviz").rglob("*.toml")]
    files += [path for path in ROOT.glob(".github/**/*") if path.is_file()]
    files += ROOT.glob("sample_data/*.ipynb")
    wrong = re.compile(
        r"(?:pip|uv|pipx|conda) (?:install|add|tool install)[^\n`&|]*[\s'\"]segviz(?![\w.-])"
        r"|[\s'\"(]segviz\[\w+\]|dependencies = \[[^]]*\"segviz[\"><=]"
    )
    assert wrong.search("pip install 'segviz[parallel]'")
    assert wrong.search("pip install -U segviz")
    assert not wrong.search("`pip install -e . && segviz`")
    assert [path for path in files if wrong.search(path.read_text("utf-8"))] == []
