"""Large files: a list of LongMemEval-S size on disk, and JSON Lines of chats that are read whole.

Run ``python -m tests.benchmarks.large [MEGABYTES]`` from the project's root (default 280). A
file of made-up instances is written to a temporary folder and read in a process of its own, whose
peak resident memory is printed. Targets for 280 MB: first instance within 5 s, 600 MB. 4,000 chats
as JSON Lines are read in at most eight times the time of the JSON parser.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from segviz.loaders import parse, read_document

INSTANCE_BYTES = 560_000
SESSIONS = 48
TURNS = 10

READ = """
import resource, sys, time
import segviz
baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.perf_counter()
corpus = segviz.load(sys.argv[1], by_items=0)
listed = time.perf_counter()
turns = len(corpus[0].turns)
first = time.perf_counter()
last = len(corpus[-1].turns)
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{len(corpus)} instances, {turns} and {last} turns in the first and last")
print(f"listed after {listed - began:.2f} s, first instance {first - began:.2f} s")
print(f"last instance {done - first:.2f} s more")
print(f"peak {peak / 1024:.0f} MB, of which {baseline / 1024:.0f} MB before loading")
"""


def instances(count: int, seed: int = 0) -> Iterator[dict[str, object]]:
    """Made-up instances with quotes, brackets and backslashes in their words."""
    rng = random.Random(seed)
    words = [
        "boat",
        "ne\u00e9",
        '"quoted"',
        "[list]",
        "{x: 1}",
        "C:\\temp",
        "line\n",
        "tea,",
        "\u4f60\u597d",
    ]
    for number in range(count):
        sessions = [
            [
                {
                    "role": "user" if row % 2 == 0 else "assistant",
                    "content": " ".join(
                        rng.choices(words, k=INSTANCE_BYTES // SESSIONS // TURNS // 9)
                    ),
                    **({"has_answer": True} if session == row == 3 else {}),
                }
                for row in range(TURNS)
            ]
            for session in range(SESSIONS)
        ]
        yield {
            "question_id": f"made_{number}",
            "question_type": "multi-session",
            "question": f"What of number {number}?",
            "answer": number,
            "question_date": "2023/05/28 (Sun) 19:47",
            "haystack_dates": ["2023/05/20 (Sat) 02:21"] * SESSIONS,
            "haystack_session_ids": [f"s{i}" for i in range(SESSIONS)],
            "haystack_sessions": sessions,
            "answer_session_ids": ["s3"],
        }


def write(path: Path, size: int) -> int:
    """A file of at least ``size`` bytes; the number of instances in it."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write("[")
        # A few made-up instances repeat under new names: making them is the slow part.
        stock = list(instances(8))
        while stream.tell() < size or count == 0:
            record = {**stock[count % len(stock)], "question_id": f"made_{count}"}
            stream.write(("," if count else "") + json.dumps(record, ensure_ascii=False))
            count += 1
        stream.write("]")
    return count


def chats(count: int = 4_000) -> str:
    """How long made-up chats of 20 messages take, beside the JSON parser, as CPU time."""
    rng = random.Random(2)
    words = "the boat is at the harbour and the key is under the blue pot we sail tomorrow".split()
    rows = [
        {"role": ("user", "assistant")[row % 2], "content": " ".join(rng.choices(words, k=40))}
        for row in range(20 * count)
    ]
    lines = [json.dumps({"id": n, "messages": rows[20 * n :][:20]}) for n in range(count)]
    began = time.process_time()
    parse("\n".join(lines).encode(), "chats.jsonl")
    read = time.process_time()
    read_document("\n".join(lines).encode())
    took, alone = read - began, time.process_time() - read
    size = sum(map(len, lines)) / 1024**2
    times = f"{took:.1f} s, {took / alone:.1f} times the parser alone"
    return f"{count:,} chats as JSON Lines, {size:.0f} MB: {times}"


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 280
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "longmemeval_s.json"
        write(path, megabytes * 1024**2)
        print(f"file: {path.stat().st_size / 1024**2:.0f} MB")
        ran = subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
        )
        print(ran.stdout.rstrip())
    print(chats())


if __name__ == "__main__":
    main()
