"""Parts the pages share: the canvas, lists, charts, tables, the export menu."""
