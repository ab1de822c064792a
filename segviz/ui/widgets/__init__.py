"""What pages are made of: the canvas, lists, charts, tables, the export menu."""
