"""As much of a PDF as the tests ask about: its pages, their size, the words on them.

Reads what Chromium writes: objects one after the other, streams deflated, text as glyph
numbers that each font's ToUnicode table turns into characters.
"""

from __future__ import annotations

import re
import zlib


class Pdf:
    def __init__(self, data: bytes):
        assert data.startswith(b"%PDF-")
        assert data.rstrip().endswith(b"%%EOF")
        self.data = data
        found = re.findall(rb"(\d+) 0 obj\b(.*?)endobj", data, re.DOTALL)
        self.objects = {int(number): body for number, body in found}

    @property
    def pages(self) -> list[bytes]:
        return [o for o in self.objects.values() if re.search(rb"/Type /Page\b(?!s)", o)]

    @property
    def size(self) -> tuple[float, float]:
        """Of the only page, in points."""
        (page,) = self.pages
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page)
        return float(box[1]), float(box[2])

    @property
    def ground(self) -> tuple[str, tuple[int, int]]:
        """The first rectangle that is filled: its colour, its size in pixels."""
        (page,) = self.pages
        content = self._stream(int(re.search(rb"/Contents (\d+) 0 R", page)[1]))
        number = rb"([\d.]+) "
        colour = re.search(number * 3 + rb"rg\b", content)
        area = re.search(rb"\n0 0 " + number * 2 + rb"re\nf\b", content)
        filled = bytes(round(float(part) * 255) for part in colour.groups())
        return f"#{filled.hex()}", tuple(int(float(part)) for part in area.groups())

    @property
    def text(self) -> str:
        """The words of the only page, in the order they are drawn."""
        (page,) = self.pages
        fonts = {
            name: self._characters(int(number))
            for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", page)
        }
        content = self._stream(int(re.search(rb"/Contents (\d+) 0 R", page)[1]))
        words, font = [], {}
        for name, glyphs, end in re.findall(
            rb"/(F\d+) [\d.]+ Tf|<([0-9A-F]+)> Tj|(\bET\b)", content
        ):
            if name:
                font = fonts[name]
            elif end:
                words.append("\n")
            else:
                codes = [int(glyphs[i : i + 4], 16) for i in range(0, len(glyphs), 4)]
                words += [font.get(code, "\N{REPLACEMENT CHARACTER}") for code in codes]
        return "".join(words)

    def _stream(self, number: int) -> bytes:
        body = self.objects[number]
        return zlib.decompressobj().decompress(re.split(rb"stream\r?\n", body, maxsplit=1)[1])

    def _characters(self, font: int) -> dict[int, str]:
        table = re.search(rb"/ToUnicode (\d+) 0 R", self.objects[font])
        if table is None:
            return {}
        found: dict[int, str] = {}
        text = self._stream(int(table[1])).decode("ascii")
        for kind, rows in re.findall(r"beginbf(char|range)\n(.*?)endbf", text, re.DOTALL):
            for row in rows.splitlines():
                *codes, to = re.findall(r"<([0-9A-F]+)>", row)
                first, last = int(codes[0], 16), int(codes[-1], 16)
                start = bytes.fromhex(to).decode("utf-16-be")
                for code in range(first, last + 1):
                    shifted = chr(ord(start[-1]) + code - first)
                    found[code] = start[:-1] + shifted if kind == "range" else start
        return found
