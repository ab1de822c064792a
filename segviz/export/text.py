"""Makes untrusted text safe for exported files: legal in XML, on one line, or a file name."""

from __future__ import annotations

import re
import unicodedata

# Illegal in XML 1.0 (section 2.2), even escaped; lone surrogates have no UTF-8.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# As CONTROLS of frontend/src/shared/text.js: control and bidi characters.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


def legal(text: str) -> str:
    """Replaces characters that are illegal in XML by U+FFFD, and carriage returns by line feeds."""
    return _ILLEGAL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, limit: int) -> str:
    """Returns ``text`` in one line: no control or bidi characters, at most ``limit`` characters."""
    plain = " ".join(legal(_CONTROLS.sub(" ", text)).split())
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def file_name(conversation: str, part: str, ending: str) -> str:
    """Returns a name for any file system: ``segviz-CONVERSATION-PART.ENDING``, in ASCII."""
    ascii_only = unicodedata.normalize("NFKD", conversation).encode("ascii", "ignore").decode()
    words = _UNSAFE.sub("-", ascii_only).strip("-")[:60].strip("-")
    return "-".join(filter(None, ("segviz", words, part))) + f".{ending}"
