"""The README's example runs as it stands, and its commands are the ones CI uses."""

from __future__ import annotations

import re

from tests.data import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_ten_lines_run(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "316 turns kept, 0 repaired, 0 skipped" in printed
    assert "[] violations" in printed
    assert (tmp_path / "boat.json.gz").is_file()
    assert len([line for line in code.splitlines() if line.strip()]) <= 12


def test_ci_calls_the_readmes_test_command():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert '`pip install -e ".[test]" && pytest`' in README
    assert 'pip install --quiet -e ".[test]"' in script
    assert re.search(r"\bpytest\b", script)


def test_every_module_named_in_the_map_exists():
    table = README.split("## Package map")[1].split("**Add a system**")[0]
    modules = re.findall(r"^\| `([a-z_]+)/?`", table, re.MULTILINE)
    assert len(modules) > 12
    for name in modules:
        path = ROOT / "segviz" / name
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


def test_every_top_level_module_is_in_the_map():
    table = README.split("## Package map")[1].split("**Add a system**")[0]
    for path in (ROOT / "segviz").iterdir():
        if path.name.startswith("_") or (path.is_file() and path.suffix != ".py"):
            continue
        assert f"`{path.stem}`" in table or f"`{path.stem}/`" in table, path.name
