"""CSS rules that Streamlit's theme has no setting for."""

from __future__ import annotations

import streamlit as st

from segviz.ui.widgets.canvas import part

# Streamlit's captions are below the contrast that WCAG 2.2 requires for small text (4.5 to 1).
CAPTION = {"light": "#67645f", "dark": "#a8a49e"}

_COLOURS = f"""
:root {{
  --segviz-caption: light-dark({CAPTION["light"]}, {CAPTION["dark"]});
  --segviz-line: light-dark(#e4e1db, #3a3834);
  --segviz-ink: light-dark(#2f2d2b, #edebe8);
  --segviz-surface: light-dark(#f5f4f1, #211f1d);
}}
"""

_RULES = """
/* Streamlit keeps wide margins for prose; an instrument needs the width for its axis. */
.stMainBlockContainer {
  padding: var(--segviz-margins, 4rem 2.2rem 3rem); zoom: var(--segviz-zoom, 1);
}
:is(.st-key-ask-page, .st-key-ask-below) { gap: 0.6rem; }
[data-testid="stSidebarHeader"] { height: 2.2rem; margin-bottom: 0; }

/* Buttons that show an icon alone keep their label for screen readers. */
:is([class*="st-key-go-"], .st-key-play) button :has(> p) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}

/* Parts that draw nothing. */
.st-key-canvas-code, [class*="st-key-base-of-"] { display: none; }

/* Room for the tree of Ask and the path of α below it, before they are there. */
:is(.st-key-ask-room, .st-key-second-room) { min-height: 44rem; }

/* Two trees beside each other begin at the same height, and so do their lists, which name what
   entered and left. */
.st-key-ask-pair {
  --segviz-verdict: 1rem; --segviz-verdict-lines: nowrap; --segviz-parts: 22px;
  --segviz-named: none; --segviz-read: 2;
}
.st-key-ask-pair, [class*="st-key-beside-structures"] { --segviz-hint: none; }

/* Where they are narrow, each verdict has two lines. */
@media (min-width: 641px) and (max-width: 1200px) {
  .st-key-ask-pair { --segviz-verdict-lines: normal; --segviz-verdict-room: 2lh; }
}

/* The controls above the tree are one line of an instrument: equally tall, close together. */
:is(.st-key-transport, .st-key-asking, .st-key-scoring) button { padding: 0.1rem 0.6rem; }
.st-key-transport button { min-height: 2.1rem; }
.st-key-asking > :first-child { min-width: 10rem; }
:is(.st-key-asking, .st-key-scoring) button { min-height: 2.5rem; }
.st-key-tally { min-width: min(20rem, 100%); }
.st-key-tally button { padding: 0 0.1rem; }
.st-key-source button { padding-inline: 0.55rem; }

/* On a phone the tree comes before the controls of scoring, and before all of Grow but the player.
   Two trees stand below each other, without their charts. */
@media (max-width: 640px) {
  .st-key-asking { gap: 0.4rem; }
  .st-key-asking > :first-child { min-width: min(18rem, 100%); }
  .st-key-asking button { padding-inline: 0.35rem; }
  .st-key-ask-pair {
    --segviz-list: 12.5rem; --segviz-below: none; --segviz-verdict-lines: normal;
  }
  .st-key-ask-pair > :first-child { order: 1; }
  .st-key-ask-below:has(> * > :is(.st-key-ask-room, .st-key-ask-pair)) > * { order: 2; }
  .st-key-ask-below > :has(> :is(.st-key-ask-room, .st-key-ask-pair)) { order: 0; }
  .st-key-ask-below:has(> * > :is(.st-key-ask-room, .st-key-ask-pair))
    > :has(> .st-key-scoring) { order: 1; }
  .st-key-grow-page:has(> .st-key-grow-tree) { gap: 0.45rem; }
  .st-key-grow-page:has(> .st-key-grow-tree) > * { order: 2; }
  .st-key-grow-page:has(> .st-key-grow-tree)
    > :is(.st-key-grow-tree, :has(> .st-key-scrub)), .st-key-transport > :first-child { order: 1; }
  :has(> .st-key-transport), .st-key-transport { display: contents !important; }
  .st-key-transport > :first-child { order: 0; }
  .st-key-transport > :last-child { order: 2; }
  .st-key-scrub { gap: 0.3rem; }
}

/* Presenting: no sidebar, no controls, everything larger; the tree takes the whole width. */
[data-segviz-presenting] {
  --segviz-controls: none;
  --segviz-body: block;
  --segviz-hint: none;
  --segviz-margins: 1rem 1.5rem;
  --segviz-zoom: 1.4;
}
[data-segviz-presenting] :is(
  section:has(.st-key-atlas-button), header, .st-key-scoring, .st-key-transport,
  .st-key-asking > :not(:first-child)
) { display: none; }
[data-segviz-presenting] body::after {
  content: "Esc ends presenting"; position: fixed; right: 1rem; bottom: 0.5rem;
  color: var(--segviz-caption); font-size: 0.875rem;
}
[data-segviz-presenting] body:has(.st-key-tour-bar)::after {
  content: "Esc ends presenting · ← → walk the tour";
}

/* A file may be dropped anywhere: while one is dragged, an upload zone covers the page. Its file is
   listed only while it travels. */
.st-key-dropped { position: fixed; z-index: 1000000; right: 1rem; bottom: 1rem; width: 22rem; }
.st-key-dropped:not(:has([role="progressbar"])) { visibility: hidden; }
.st-key-dropped :is(label, section) { display: none; }
[data-segviz-dragging] .st-key-dropped section {
  visibility: visible; position: fixed; inset: 0; display: grid; place-items: center; height: auto;
  border: 0.4rem dashed var(--st-primary-color, #d9480f); opacity: 0.95;
}
[data-segviz-dragging] .st-key-dropped section > * { display: none; }
[data-segviz-dragging] .st-key-dropped section::after {
  content: "Drop a conversation or a saved memory to open it"; font-size: 1.5rem;
}

/* The sign that empties a box keeps its width beside a long text. */
[data-testid="stSelectbox"] svg { flex: none; }

/* Columns in a container whose key begins so stand below each other where each would be
   narrower than what is in it needs; Streamlit itself asks only for the window's width. */
[class*="st-key-beside-"] :has(> [data-testid="stColumn"]) { flex-wrap: wrap; }
[class*="st-key-beside-"] [data-testid="stColumn"] {
  min-width: var(--segviz-column, min(19rem, 100%));
}
[class*="st-key-beside-wide"] { --segviz-column: min(26rem, 100%); }
@media (max-width: 1200px) {
  [class*="st-key-beside-structures"] { --segviz-column: 100%; }
}

/* The small maps of Sweep stay in one row, none below the least width of a chart: a phone pans. */
.st-key-relevance-maps { overflow-x: auto; }
.st-key-relevance-maps > * { min-width: 150px; }

/* Digits of one width below each other, a line under each row. */
.segviz-table { overflow: auto; }
.segviz-table table { width: 100%; border-collapse: collapse; }
.segviz-table :is(td, th) {
  padding: 0.28rem 0.4rem; border-bottom: 1px solid var(--segviz-line); text-align: start;
  vertical-align: top; font-variant-numeric: tabular-nums;
}
.segviz-table :is(td, th):first-child { padding-left: 0; }
.segviz-table th { font-weight: 400; opacity: 0.75; }
.segviz-table .number { text-align: end; }
.segviz-table :is(.number, .short) p { white-space: nowrap; }
.segviz-table p { margin: 0; font-size: 0.875rem; }
@media (max-width: 640px) {
  .segviz-table p { width: max-content; max-width: 8.5rem; }
  .segviz-table .number p { margin-left: auto; }
}

/* What a colour or a frame stands for, before its word. */
.segviz-swatch { margin-right: 0.7em; white-space: nowrap; }
.segviz-swatch i {
  display: inline-block; width: 0.9em; height: 0.9em; margin-right: 0.3em;
  vertical-align: -0.08em; box-shadow: 0 0 0 1px var(--segviz-line);
}

/* The words in the boxes of the toy tree need room: a phone pans. */
@media (max-width: 640px) {
  .st-key-toy-tree { overflow-x: auto; }
  .st-key-toy-tree > * { min-width: 44rem; }
}

/* Small buttons at the end of a line of text. */
[class*="st-key-twin-"], [class*="st-key-twin-"] > * { max-height: 1.3rem; }
[class*="st-key-twin-"] button { min-height: 0; height: 1.3rem; padding: 0; }
[class*="st-key-twin-"] button p { font-size: 0.875rem; }

/* The files to take away are a list, not a stack of boxes. */
.st-key-export-files { gap: 0.3rem; }
.st-key-export-files button { min-height: 2rem; padding: 0.1rem 0.6rem; }
.st-key-export-files button > div { justify-content: flex-start; }
/* Streamlit shows it under the pointer alone: neither finger nor Tab would find it. */
[data-testid="stCode"] > div:has(button) { visibility: visible; opacity: 1; }

/* The words of the tour stand beside its buttons, on a phone above them. */
.st-key-tour-bar { padding-block: 0.5rem; }
.st-key-tour-bar > :nth-child(2) { flex: 1 1 15rem; }

/* A node's history is as tall as it is, up to a limit. */
.st-key-versions { max-height: 18rem; overflow-y: auto; }

/* The browser takes the colour of the theme the page is in just then: Streamlit tells it by
   ``color-scheme``. */
[data-testid="stCaptionContainer"] { opacity: 1; p { color: var(--segviz-caption); } }
[data-testid="stHeadingDivider"] { height: 1px; background-color: var(--segviz-line); }
/* What is chosen is no alarm: chips and notes are quiet, the accent is for the data. */
[data-testid="stMultiSelect"] [data-tag-index] {
  background-color: var(--segviz-surface); box-shadow: inset 0 0 0 1px var(--segviz-line);
  * { color: var(--segviz-ink); }
}
"""


def apply_style() -> None:
    """Puts the rules on the page."""
    st.html(f"<style>{_COLOURS}{_RULES}</style>")


def follow_theme() -> None:
    """Runs the script again when the page turns dark or light, so that charts turn, too."""
    theme = {"theme": st.context.theme.type}
    part("theme_watch", key="theme", data=theme, theme=lambda _: None)
