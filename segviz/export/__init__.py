"""Exports a view of the explorer as files for other programs and people.

======================  =============================================================
``view``                input of every export: memory, moment, question; ``view_of``
                        creates it without the app
``bare``                a view without texts and names, for any of the files
``html``                one offline HTML file with the interactive canvas; prints to PDF
``sheet``               that page with size and theme, from which a picture is drawn
``pictures``            draws PNG, SVG and WebP with an installed ``browser``
``audit``               HTML report of the audit of a memory; ``comparison``, of systems;
                        both use ``report``
``graphs``              GraphML
``tables``              CSV: nodes, ranks of a question, sweeps
``snippet``             the Python that reproduces the view
``formats``             registry of these, for the app and the command line
``locomo``              conversations in LoCoMo's format
``text``                file names; untrusted text made legal for XML
======================  =============================================================

``segviz.store`` saves memories. A view has no keys of model servers, so no exported file has one.
The same view gives the same bytes.
"""

from segviz.export.bare import without_texts
from segviz.export.browser import BrowserError
from segviz.export.formats import FORMATS, Format
from segviz.export.locomo import locomo_json
from segviz.export.pictures import draw
from segviz.export.sheet import Sheet
from segviz.export.tables import changes_csv, rows_csv, rows_markdown, sweep_csv, sweeps_csv
from segviz.export.text import file_name
from segviz.export.trec import trec_qrels, trec_run
from segviz.export.view import View, view_of

__all__ = [
    "FORMATS",
    "BrowserError",
    "Format",
    "Sheet",
    "View",
    "changes_csv",
    "draw",
    "file_name",
    "locomo_json",
    "rows_csv",
    "rows_markdown",
    "sweep_csv",
    "sweeps_csv",
    "trec_qrels",
    "trec_run",
    "view_of",
    "without_texts",
]
