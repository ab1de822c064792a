"""``segviz compare``: compares several systems on the same leaves and questions."""

from __future__ import annotations

from time import perf_counter

from segviz.cli.build_options import build_options
from segviz.cli.command import OK, Console, Options, UsageError, command, output_options
from segviz.cli.many import many_options, measured, runs_of
from segviz.cli.models import models
from segviz.cli.retrieval import SHARED, options_for
from segviz.cli.source import files_argument, output_path, path_option, write_file
from segviz.cli.tables import Owner, report
from segviz.evaluation.compare import Comparison, compare_one, joined, pooled_comparison
from segviz.systems import SYSTEMS

_SETTINGS = (*SHARED, "units", "tokens")


@command
@files_argument
@options_for(*SHARED)
@many_options
@build_options(several=True)
@path_option("--html", "Write an interactive page that works offline.")
@output_options
def compare(options: Options, console: Console) -> int:
    """Measures several systems on the same leaves and questions.

    Builds the systems from one conversation FILE, over the same leaves and embeddings, and measures
    them on its questions. Each is measured with its own retrieval, if it has one, with segviz's
    relevance over its nodes, and for its leaves, re-ranked along its edges. Several FILEs are built
    memories of one conversation and one unit rule. With --vary, it compares several values of one
    parameter of a system.

    recall: gold leaves among the K best leaves. in_evidence: gold turns that the K
    best nodes have, quote or answer; in_evidence_600: the same within the first 600 tokens of text.
    quoted: gold turns that a text of the K best nodes repeats. answer_words: words of the gold
    answer in the first tokens of the evidence. words: number of words in the K best nodes.
    contentless lines: share of lines of inner nodes with fewer than two content words, names of
    the speakers not counted.

    With --all or several --conversation it repeats this for each of them, and reports the mean
    over all conversations. --workers and --scheduler distribute the runs, also those of one
    conversation. Parallel runs disturb each other, so seconds are then not measured.

    JSON: command, runs (for each conversation: conversation, k, units, tokens, budget, deduplicate,
    relevance (null: the default of each retrieval), questions, rows), overall (the same over the
    questions of all conversations, if there are several; intervals resample conversations, too). A
    row has name, system, method (native, its own retrieval; collapsed, segviz's relevance; leaves,
    its leaves re-ranked), relevance, shape, cost (sums over the build), measures (name -> all,
    without_adversarial and gain, the paired difference to the first row of the same method; with an
    audit also without_disputed and gain_without_disputed; each value, low, high, n), build_seconds
    and query_seconds (null if runs are distributed or saved with --resume), contentless_lines
    (share over all inner nodes, null without any).

    Examples:
        segviz compare sample:ines-theo --systems segment-tree,raptor,bm25
        segviz compare strict.json.gz loose.json.gz
        segviz compare sample:ines-theo --system memtree --vary base=0.2,0.4,0.6
        segviz compare talks.json --all --workers 4 --resume talks.runs
        segviz compare sample:ines-theo --systems raptor,bm25 --html compare.html
    """
    target = output_path(options.html, options) if options.html else None
    with models(options, console) as clients:
        runs = runs_of(options, console, clients, list(SYSTEMS))
        settings = {name: getattr(options, name) for name in _SETTINGS}
        if target and len(runs.conversations) > 1:
            raise UsageError("--html shows one conversation; name one")
        comparisons = measured(
            runs, compare_one, Comparison, settings, options, console, clock=perf_counter
        )
    # The systems of a conversation were measured one by one; join them into a comparison.
    parts: dict[str, dict[str, Comparison]] = {}
    for run in comparisons:
        parts.setdefault(run.conversation, {})[run.system] = run.result
    whole: list[tuple[Owner, Comparison]] = [
        ({"conversation": conversation}, joined(systems)) for conversation, systems in parts.items()
    ]
    if target:
        from segviz.export.comparison import comparison_html  # Plotly takes half a second to load

        talk = runs.conversations[0]
        [(_, comparison)] = whole
        comparison = comparison.counting(disputed=not options.no_disputed)
        title, adversarial = f"Memories of {talk.id} compared", not options.no_adversarial
        page = comparison_html(comparison, talk.questions, title, adversarial=adversarial)
        write_file(target, page)
    report("compare", whole, pooled_comparison, options, console)
    return OK
