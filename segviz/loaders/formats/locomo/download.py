"""Downloads LoCoMo's public file once, checks it, and stores it in a user's folder.

The ten conversations are published by snap-research under CC BY-NC 4.0, so segviz does not contain
them. The file is stored only if it has the known SHA-256 checksum. Only ``fetch_locomo`` uses the
network, and only if the file is not there yet.
"""

from __future__ import annotations

import hashlib
import http.client
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from segviz import files
from segviz.loaders.errors import LoadError
from segviz.text.captions import size

URL = "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json"
PAGE = "https://github.com/snap-research/locomo"
LICENCE = "CC BY-NC 4.0"
SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
SIZE = 2_805_274
NAME = "locomo10.json"

_TIMEOUT_SECONDS = 30.0
_BY_HAND = f"download {NAME} from {PAGE} by hand and load it by its path"


def fetch_locomo(folder: str | Path) -> Path:
    """Returns the path of LoCoMo's file in a folder; downloads the file if it is not there yet.

    A file with another checksum is replaced. Raises LoadError, and keeps nothing, if the download
    fails or has the wrong checksum, or if the folder cannot be written.
    """
    target = Path(folder).expanduser() / NAME
    try:
        if target.is_file() and _sum(files.read(target)) == SHA256:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(target.parent, error) from None
    data = _download()
    checksum = _sum(data)
    if checksum != SHA256:
        what = f"the download ({size(len(data))}, SHA-256 {checksum[:12]}…) is not the known file"
        expected = f"{size(SIZE)} with SHA-256 {SHA256[:12]}…"
        raise LoadError(what, URL, expected, f"try again later, or {_BY_HAND}")
    try:
        files.write(target, data)
    except OSError as error:
        raise _unwritable(target.parent, error) from None
    return target


def _download() -> bytes:
    """Returns the bytes at ``URL``; raises LoadError if the server fails or sends too much."""
    try:
        with urlopen(URL, timeout=_TIMEOUT_SECONDS) as body:
            data: bytes = body.read(2 * SIZE)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or error
        what = f"the file could not be downloaded ({str(reason)[:120] or type(error).__name__})"
        raise LoadError(what, URL, remedy=f"check the network, or {_BY_HAND}") from None
    if len(data) >= 2 * SIZE:
        what = f"the server sends more than {size(2 * SIZE)}"
        raise LoadError(what, URL, f"{size(SIZE)}", _BY_HAND)
    return data


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _unwritable(folder: Path, error: OSError) -> LoadError:
    what = f"the folder cannot be used ({error.strerror or type(error).__name__})"
    return LoadError(what, str(folder), remedy="name another folder")
