"""Coverage-guided fuzzing: ``python -m tests.fuzz TARGET [--minutes N] [--keep]``.

Atheris (libFuzzer for Python) changes inputs, keeps those that reach new branches of segviz, and
stops at the first that raises what it should not, takes ten seconds or a gigabyte. The targets
are in ``tests/fuzz/targets.py``. A run begins with the corpus kept beside this file; ``--keep``
adds what it found, reduced to what reaches something of its own; ``--child FILE`` repeats one
input.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

NAMES = ("loaders", "sessions", "links", "replies")
LIMITS = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=65536"]
# Then it begins anew with its corpus: of every execution the instrumentation keeps half a kilobyte
# or more, which would reach the limit by itself. The same inputs without it keep nothing.
RUNS = 400_000
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 10**400, 1.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", " ", "a", "0", "-1", "1e999", "nan", "\0", "\ud800", "\u202e", "٣", "x" * 3000),
    *("2024-01-01T00:00:00", "2024-01-01T00:00:00+01:00", "9999-12-31", [], {}, [[]], [None]),
)


def changed(document: Any, chance: random.Random) -> Any:
    """A JSON document with one to three of its nodes replaced, removed, doubled or renamed."""
    for _ in range(chance.randint(1, 3)):
        node: Any = [document]
        while True:
            steps = list(node) if isinstance(node, dict) else range(len(node))
            step = chance.choice(list(steps))
            inner = node[step]
            if not (isinstance(inner, dict | list) and inner) or chance.random() < 0.2:
                break
            node = inner
        if node == [document] and chance.random() < 0.9:
            continue
        how = chance.randrange(6)
        if how == 0 and len(node) > 1:
            del node[step]
        elif how == 1 and isinstance(node, list):
            node.insert(step, inner)
        elif how == 2 and isinstance(node, dict):
            node[chance.choice([*node, "text", "\0"])] = inner
        elif how == 3 and isinstance(inner, int | float) and not isinstance(inner, bool):
            node[step] = inner + chance.choice([-1, 1, 2**31, 0.5])
        elif how == 4 and isinstance(inner, str):
            node[step] = inner[: chance.randint(0, len(inner))] + str(chance.choice(VALUES))
        else:
            node[step] = chance.choice(VALUES)
    return document


def fuzz(target: str, arguments: list[str]) -> None:
    """Fuzzes in this process until libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["segviz"], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS, seeds

    TARGETS[target](seeds(target)[0])  # imports and tables are loaded before the clock runs

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        chance = random.Random(seed)
        try:
            if chance.random() < 0.8:
                text = json.dumps(changed(json.loads(data), chance)).encode()
                if len(text) <= longest:
                    return text
        except (ValueError, OverflowError, RecursionError):
            pass
        return bytes(atheris.Mutate(data, longest))

    # Merging starts the program again, by what stands first.
    again = f"{sys.executable} -m tests.fuzz {target} --child"
    atheris.Setup([again, *arguments], TARGETS[target], custom_mutator=mutate)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--keep", action="store_true", help="keep the inputs that reach more")
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        fuzz(given.target, given.child)
        return 0
    from tests.fuzz.targets import keep, kept, seeds

    folder = Path(tempfile.mkdtemp(prefix=f"segviz-fuzz-{given.target}-"))
    corpus, least = folder / "corpus", folder / "least"
    corpus.mkdir()
    least.mkdir()
    for number, data in enumerate([*seeds(given.target), *kept(given.target)]):
        (corpus / f"{number:05d}").write_bytes(data)
    child = [sys.executable, "-m", "tests.fuzz", given.target, "--child", *LIMITS]
    ends, done, reached = monotonic() + 60 * given.minutes, 0, 0
    while True:
        left = max(1, round(ends - monotonic()))
        run = subprocess.run(
            [
                *(*child, f"-max_total_time={left}", f"-runs={RUNS}", "-print_final_stats=1"),
                *(f"-artifact_prefix={folder}/found-", str(corpus)),
            ],
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        log = run.stderr
        done += sum(map(int, re.findall(r"number_of_executed_units: (\d+)", log)))
        reached = max(reached, *map(int, re.findall(r"cov: (\d+)", log)), 0)
        found = sorted(folder.glob("found-*"))
        if run.returncode or found or monotonic() >= ends:
            break
    print(
        f"{given.target}: {done} executions in {given.minutes:g} min, "
        f"{reached} branches, {len(list(corpus.iterdir()))} inputs, "
        f"{len(found)} findings, exit code {run.returncode}"
    )
    if run.returncode or found:
        print(log[-3000:], *found, sep="\n")
        return 1
    if given.keep:
        subprocess.run([*child, "-merge=1", str(least), str(corpus)], check=True)
        keep(given.target, [path.read_bytes() for path in least.iterdir()])
        print(f"kept: {len(list(least.iterdir()))} inputs")
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
