"""What the papers of MemTree, H-Mem, MemForest and xMemory report of themselves and others."""

from __future__ import annotations

from segviz.evaluate.published.reports import Reported, rows

_DISAGREE = "The paper's prose counts 3154 nodes, its table 3164."
_DEPTH = "Counts the contentless root, which our MemTree leaves out: our depths are one less."

ROWS: tuple[Reported, ...] = (
    *rows(
        "memtree",
        "Table 1",
        "MSC",
        "accuracy",
        {"memtree": 84.8, "MemoryStream": 84.4, "MemGPT": 70.4, "full history": 95.6},
        "GPT-4o",
    ),
    *rows(
        "memtree",
        "Table 2",
        "MSC-E",
        "accuracy",
        {"memtree": 82.5, "MemoryStream": 80.7, "full history": 78.0},
        "GPT-4o",
    ),
    *rows(
        "memtree",
        "Table 3",
        "QuALITY",
        "accuracy",
        {"memtree": 59.8, "raptor": 59.0, "GraphRAG": 62.8, "MemoryStream": 43.8},
        "Llama-3.1-70B",
    ),
    *rows(
        "memtree",
        "Table 4",
        "MultiHop RAG",
        "accuracy",
        {"memtree": 80.5, "raptor": 81.0, "GraphRAG": 78.3, "MemoryStream": 74.7},
        "GPT-4o",
    ),
    *rows("memtree", "Table 5", "MultiHop RAG", "nodes", {"memtree": 3164}, caveat=_DISAGREE),
    *rows("memtree", "Table 5", "MultiHop RAG", "max-depth", {"memtree": 13}, caveat=_DEPTH),
    *rows("memtree", "Table 5", "MultiHop RAG", "mean-depth", {"memtree": 4.9}, caveat=_DEPTH),
    *rows("memtree", "Table 5", "MultiHop RAG", "branching", {"memtree": 2.1}),
    *rows("memtree", "App. A.2", "MultiHop RAG", "calls", {"memtree": 3.27}),
    *rows(
        "h-mem",
        "Table 2",
        "LoCoMo",
        "accuracy",
        {"h-mem": 88.83, "EverMemOS": 85.52, "memtree": 67.08},
        "GPT-4o-mini",
    ),
    *rows(
        "h-mem",
        "Table 2",
        "LoCoMo",
        "f1-percent",
        {"h-mem": 56.06, "EverMemOS": 47.76, "memtree": 42.04},
        "GPT-4o-mini",
    ),
    *rows("h-mem", "Table 3", "LongMemEval-S", "accuracy", {"h-mem": 89.20}, "GPT-4o-mini"),
    *rows(
        "memforest",
        "Table 4",
        "LongMemEval-S",
        "pass@1",
        {"memforest": 79.8, "LightMem": 67.0, "EverMemOS": 66.2, "MemoryOS": 50.0, "Mem0": 40.2},
        "30B model",
    ),
    *rows(
        "memforest",
        "Table 5",
        "LoCoMo",
        "pass@1",
        {"memforest": 68.4, "EverMemOS": 69.6, "MemoryOS": 50.9},
        "30B model",
    ),
    *rows(
        "xmemory",
        "Table 1",
        "LoCoMo",
        "f1-percent",
        {"xmemory": 43.98, "Nemori": 40.45, "naive RAG": 36.42},
        "Qwen3-8B",
    ),
    *rows(
        "xmemory",
        "Table 1",
        "LoCoMo",
        "bleu",
        {"xmemory": 34.48, "Nemori": 28.51, "naive RAG": 27.92},
        "Qwen3-8B",
    ),
)
"""Paper by paper."""
