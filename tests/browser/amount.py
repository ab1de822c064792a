"""Counts what a visitor has on the screen: controls and numbers outside the sidebar.

A control is what can be pressed, typed in or moved. A number is one run of digits in a text that is
seen, in the page or painted on a canvas.
"""

from __future__ import annotations

from typing import Any

# Keeps the texts that each canvas has painted since it was cleared, with their places.
NOTES_PAINT = """
{
  const pen = CanvasRenderingContext2D.prototype;
  const { clearRect, fillText } = pen;
  pen.clearRect = function (...given) {
    this.canvas.painted = [];
    return clearRect.apply(this, given);
  };
  pen.fillText = function (text, x, y, ...more) {
    const { a, b, c, d, e, f } = this.getTransform();
    (this.canvas.painted ??= []).push([text, a * x + c * y + e, b * x + d * y + f]);
    return fillText.call(this, text, x, y, ...more);
  };
}
"""

_COUNTED = r"""() => {
  const CONTROL = "a[href], button, input, select, textarea, summary, [role=button], [role=slider],"
    + " [role=tab], [role=checkbox], [role=radio], [role=application]";
  const inside = (box) => box.width > 0 && box.height > 0 && box.bottom > 1 && box.right > 1
    && box.top < innerHeight - 1 && box.left < innerWidth - 1;
  // What an ancestor that scrolls or clips leaves of a rectangle.
  const seen = (element, box) => {
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      const style = getComputedStyle(at);
      if (style.visibility === "hidden" || style.opacity === "0" && at !== element) return false;
      if (style.overflow === "visible") continue;
      const { top, left, right, bottom } = at.getBoundingClientRect();
      if (box.bottom <= top + 2 || box.top >= bottom - 2 || box.right <= left + 2
        || box.left >= right - 2) return false;
    }
    return inside(box);
  };
  const controls = [], texts = [];
  const walk = (root) => {
    for (const part of root.querySelectorAll("*")) {
      if (part.closest("[data-testid=stSidebar], .unseen, style, script")) continue;
      const box = part.getBoundingClientRect();
      if (part.matches(CONTROL) && !part.parentElement?.closest(CONTROL) && seen(part, box)
        && !part.matches("[data-testid=stSelectbox] [aria-label=Open]")) { // it opens its own box
        const label = part.closest("label") ?? part;
        controls.push(part.getAttribute("aria-label") || label.textContent.trim().slice(0, 40)
          || part.className || part.tagName);
      }
      for (const node of part.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
        const range = document.createRange();
        for (const { index, 0: word } of node.data.matchAll(/\S+/g)) { // a long text may be cut
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          if (seen(part, range.getBoundingClientRect())) texts.push(word);
        }
      }
      if (part.matches("input:not([type=range]), textarea") && seen(part, box))
        texts.push(part.value);
      for (const [text, x, y] of part.painted ?? []) {
        const [across, down] = [box.width / part.width, box.height / part.height];
        const place = new DOMRect(box.left + x * across - 2, box.top + y * down - 4, 4, 8);
        if (seen(part, place)) texts.push(text);
      }
      if (part.shadowRoot) walk(part.shadowRoot);
    }
  };
  walk(document);
  const clean = texts.map((text) => text.replace(/[\u2066-\u2069]/g, ""));
  const numbers = clean.flatMap((text) => text.match(/\d+(?:[.,]\d+)*|\.\d+/g) ?? []);
  return { controls, numbers, texts: clean };
}"""


def counted(page: Any) -> dict[str, list[str]]:
    """Returns the labels of all controls, and all numbers and texts, that are on the screen.

    The page must have been opened with ``NOTES_PAINT`` as an init script.
    """
    found: dict[str, list[str]] = page.evaluate(_COUNTED)
    return found
