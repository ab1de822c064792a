"""Writes the document of a memory as a zip file of tables, and reads it.

Every table of numbers is a member that ``numpy.load`` reads; ``memory.json`` has everything else.
Nothing is compressed. Verified on opening are the CRC-32 of each member and the comment of the zip
file, which is the SHA-256 of all bytes before it.
"""

from __future__ import annotations

import hashlib
import struct
from io import BytesIO
from typing import Any, BinaryIO, Final
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from segviz.store.document import TABLES
from segviz.store.saved import StoreError

HEAD: Final = "memory.json"
_DIGEST = 2 * hashlib.sha256().digest_size
_PART = 1 << 20


def pack(document: dict[str, Any]) -> bytes:
    """Returns the container of a document; the same document gives the same bytes."""
    head = {name: value for name, value in document.items() if name not in TABLES}
    members = {HEAD: to_json(head, inf_nan_mode="constants")}
    for name, table in TABLES.items():
        array = np.ascontiguousarray(document[name], table.dtype)
        npy.write_array(written := BytesIO(), array, version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = written.getvalue()
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        archive.comment = b"0" * _DIGEST
        for name, content in members.items():
            info = ZipInfo(name)  # dated 1980: the time of writing would change the bytes
            info.create_system = 3  # the same on every operating system
            archive.writestr(info, content)
    with stream.getbuffer() as data:
        data[-_DIGEST:] = hashlib.sha256(data[:-_DIGEST]).hexdigest().encode()
    return stream.getvalue()


def unpack(stream: BinaryIO) -> dict[str, Any]:
    """Returns the document of a container, its tables as arrays; StoreError for a damaged file."""
    try:
        with ZipFile(stream) as archive:
            infos = archive.infolist()
            if any(info.compress_type != ZIP_STORED for info in infos):
                raise BadZipFile("a member is compressed, expected it uncompressed")
            members = {info.filename: archive.read(info) for info in infos}
            if len(members) < len(infos):
                raise BadZipFile("a member occurs twice")
        document: dict[str, Any] = from_json(members.pop(HEAD))
        document |= {name.removesuffix(".npy"): _array(data) for name, data in members.items()}
        # The file ends in the checksum of all bytes before it.
        left, digest = stream.seek(0, 2) - _DIGEST, hashlib.sha256()
        stream.seek(0)
        while left > 0 and (part := stream.read(min(left, _PART))):
            digest.update(part)
            left -= len(part)
        if left or stream.read() != digest.hexdigest().encode():
            raise BadZipFile("its checksum does not match its content")
    except _DAMAGED as error:
        what = f"the file is damaged ({error}); take another copy, or save the memory again"
        raise StoreError(what) from None
    return document


_DAMAGED = (
    *(ValueError, KeyError, TypeError, ArithmeticError, EOFError, OSError),
    *(BadZipFile, RuntimeError, struct.error),
)
"""Errors that the zip, JSON and NumPy readers raise for damaged bytes."""


def _array(data: bytes) -> NDArray[Any]:
    """Returns the array in the bytes of a member, read-only, without a copy."""
    stream = BytesIO(data)
    npy.read_magic(stream)
    shape, by_columns, dtype = npy.read_array_header_1_0(stream)
    if by_columns:
        raise ValueError("an array is stored by columns, expected rows")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
