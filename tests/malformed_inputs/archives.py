"""N33 to N35: archives."""

import gzip
import io
import stat
import warnings
import zipfile
from collections.abc import Mapping

from tests.malformed_inputs.inputs import BARE, CHAT, Input, read, refused

PACKED = gzip.compress(BARE)


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def patched(data: bytes, local: int, central: int, value: bytes) -> bytes:
    """A zip archive with these bytes at a place of both headers of its first member."""
    changed = bytearray(data)
    for mark, at in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        place = changed.index(mark) + at
        changed[place : place + len(value)] = value
    return bytes(changed)


def endless() -> bytes:
    """4 GB in 4 MB: one compressed block of zeros, again and again."""
    return gzip.compress(bytes(10 * 1024**2), 1) * 400


def zeros() -> bytes:
    """A small zip archive whose one file says that it has 4 GB."""
    return patched(zipped({"a.json": b'["'}), 22, 24, (2**32 - 2).to_bytes(4, "little"))


def lying() -> bytes:
    """A zip archive that declares ten bytes and holds five million."""
    return patched(zipped({"a.json": b"x" * 5_000_000}), 22, 24, (10).to_bytes(4, "little"))


def leading_elsewhere() -> bytes:
    """Members with a path out of the folder, an absolute path and a link."""
    link = zipfile.ZipInfo("link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("../../escape.json", BARE)
        archive.writestr("/etc/absolute.json", b"\x00\x01")
        archive.writestr(link, "/etc/passwd")
    return target.getvalue()


def crowded() -> bytes:
    """3,000 files beside the one that matters."""
    return zipped({f"day/{i}.bin": b"\0" for i in range(3000)} | {"chat.json": BARE})


def doubled() -> bytes:
    """Two members of one name."""
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("chat.json", "[]")
        archive.writestr("chat.json", BARE)
    return target.getvalue()


def locked() -> bytes:
    """A member that is marked as protected by a password."""
    return patched(zipped({"chat.json": BARE}), 6, 8, b"\x01")


INPUTS: tuple[Input, ...] = (
    read(33, "whole", PACKED, CHAT, name="chat.json.gz"),
    *(
        refused(33, f"cut at the {where}", PACKED[:cut], name="chat.json.gz")
        for where, cut in (("start", 5), ("middle", len(PACKED) // 2), ("end", len(PACKED) - 4))
    ),
    refused(34, "a gzip of 4 GB", endless),
    refused(34, "a zip of zeros", zeros),
    refused(34, "a zip that lies about its size", lying),
    refused(34, "a zip in a zip", lambda: zipped({"inner.zip": zipped({"chat.json": BARE})})),
    refused(34, "a zip in a gzip", lambda: gzip.compress(zipped({"chat.json": BARE}))),
    read(
        35,
        "paths out of the folder, a link",
        leading_elsewhere,
        CHAT,
        "skipped | file",
        name="a.zip",
    ),
    read(35, "3,000 files", crowded, CHAT, "skipped | file", name="a.zip"),
    read(35, "one name twice", doubled, CHAT, name="a.zip"),
    refused(35, "a password", locked, name="a.zip"),
)
