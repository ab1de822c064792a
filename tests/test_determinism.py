"""The same input gives the same bytes, in any process and with any number of threads."""

import os
import subprocess
import sys

import pytest

from segviz.conversation import sample_path
from segviz.systems import SYSTEMS

SCRIPT = """
import hashlib, sys, segviz
from segviz import store
from segviz.export import sweep_csv
from segviz.tree.inspect import digest

conversation = segviz.load(sys.argv[1])[0]
for system in segviz.SYSTEMS:
    memory = segviz.build(conversation, system)
    scores = [memory.ask(each, policy="both").final.tobytes() for each in conversation.questions]
    sweep = sweep_csv(segviz.sweep(memory, conversation.questions[:9], alphas=(0.1, 0.5)))
    print(digest(memory.structure))
    for content in (store.pack(memory.saved), b"".join(scores), sweep.encode()):
        print(system, hashlib.sha256(content).hexdigest())
"""


@pytest.mark.slow
def test_hash_seeds_and_blas_threads_change_no_byte_of_memories_scores_and_sweeps():
    printed = []
    for number in ("1", "2"):
        variables = ("PYTHONHASHSEED", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        command = [sys.executable, "-c", SCRIPT, str(sample_path("ines-theo"))]
        environment = {**os.environ, **dict.fromkeys(variables, number)}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=600
        )
        printed.append(done.stdout.splitlines())
    assert len(printed[0]) == 4 * len(SYSTEMS)
    assert printed[0] == printed[1]
