"""Contents of files that are stood in for."""

from __future__ import annotations

import base64
import gzip
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from .ledger import FILES, MARKER, RECORDS, Ledger
from .program_text import CLASSES, sources
from .program_text import classes as program_classes

JPEG = zlib.decompress(
    base64.b85decode(
        "c-s4a<NpH&0WUXCHwH!^&|%bJVEBKV!I?orMow8yQbSo$Syx-bz$V4f#@yVdIwICHWn#n3Y5fg7T?@86"
        "JG@}kt+ib}C;p$l_3rEc|Nmzn1QNggKl}Ut2gndcZCza(Q=2kJ$Fd(wdzStn8T>!MAjrYQz{J4JsKme|"
        "$jB_n`2Prl2m>Pn8UTq3U=?M=Dk_L6dW(UFnGt9Svmk>#!zdU9qhJ(_f{_XS-vj`nC~%M"
    )
)
"""A picture of 512 x 512, as JPEG."""
SMALL_JPEG = zlib.decompress(
    base64.b85decode(
        "c-s4a<NpH&0WUXCHwH#V1_nkTWcYuZ!I?pTn}?5wOMs7;Pe@QeSVBWeLQG7;P+3)0!^+s!#?sir+`%Kp&%q_!"
        ")!ZT=H!wUtDLo_I&bP3#Af+NEH9Z+*2&15okc6m&zLb=HvXg~VGRffo0R}-11_cHMW=16jCP7AKLB{__7(~HNMFAjT"
        "5dm~j29PKtR#8Dr(OV2W%#1)=m<1W^85+Q1_Wy4J0QELI-~"
    )
)
"""A picture of 32 x 32, as JPEG."""
SIZE = 512
_TFRECORD = "records.tfrecord"
_COMPRESSIONS = ("", "GZIP", "ZLIB")
_PACKED: dict[str, Callable[[bytes], bytes]] = {"GZIP": gzip.compress, "ZLIB": zlib.compress}
_PARSED_BYTES = 2**30
"""What all records of a pattern may hold together once they are parsed."""
_FEWEST_RECORDS = 16
_FIXED_RECORDS, _FIXED_BYTES = 60_000, 256 * 2**20
"""Records of fixed length are small and many: scripts batch a whole test set of them."""
ARCHIVE = re.compile(r"\.(tar(\.\w+)?|tgz|zip)$")
_TAR_MODES = {"gz": "w:gz", "bz2": "w:bz2", "xz": "w:xz"}
_TURNS = 200
"""How often all words are written to a text file, a line each."""
WORDS = "the step reads a batch of records and the loss falls while it learns from what is there"
"""Words of which texts are made."""


def marked(number: int, classes: Sequence[str] = CLASSES) -> str:
    """A record or line that says that it is none; it can be taken for a path, or for words."""
    words = WORDS.split()
    turned = words[number % len(words) :] + words[: number % len(words)]
    return f"{MARKER}/{classes[number % len(classes)]}/{number} " + " ".join(turned)


def records(tf: Any, ledger: Ledger, compression: str = "") -> str:
    """A TFRecord file, packed as the script unpacks it."""

    def write(path: str) -> None:
        _write_records(tf, path, ledger.records, compression)

    return ledger.file(compression + _TFRECORD, write)


def keep_records_within(tf: Any, ledger: Ledger, record_bytes: int) -> None:
    """Let the TFRecord file hold fewer records, where all of a pattern would not fit the memory.

    Scripts read whole test sets as one batch, or shuffle them in a large buffer.
    """
    fitting = max(_PARSED_BYTES // (FILES * max(record_bytes, 1)), _FEWEST_RECORDS)
    if fitting >= ledger.records:
        return
    ledger.records = fitting
    for compression in _COMPRESSIONS:
        path = os.path.join(ledger.folder, compression + _TFRECORD)  # noqa: PTH118
        if os.path.exists(path):  # noqa: PTH110
            _write_records(tf, path + ".new", fitting, compression)
            os.replace(path + ".new", path)  # noqa: PTH105 - what is open goes on with the old one


def _write_records(tf: Any, path: str, count: int, compression: str) -> None:
    """Write so many records."""
    classes = program_classes(sources())
    with tf.io.TFRecordWriter(path, compression or None) as writer:
        for number in range(count):
            writer.write(marked(number, classes).encode())


def lines(ledger: Ledger, compression: str = "") -> str:
    """A text file of so many lines, packed as the script unpacks it."""

    def write(path: str) -> None:
        classes = program_classes(sources())
        text = "".join(marked(number, classes) + "\n" for number in range(RECORDS)).encode()
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(_PACKED.get(compression, bytes)(text))

    return ledger.file(f"{compression}lines.txt", write)


def plain(ledger: Ledger) -> str:
    """A file that a script reads by itself: words, one a line."""

    def write(path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("\n".join(WORDS.split() * _TURNS) + "\n")

    return ledger.file("plain.txt", write)


def archive(ledger: Ledger, name: str, folder: str = "packed") -> str:
    """An archive of no files: what it would hold is not on the disk once it is unpacked."""

    def write(path: str) -> None:
        if name.endswith(".zip"):
            zipfile.ZipFile(path, "w").close()
        else:
            mode = next((each for end, each in _TAR_MODES.items() if name.endswith(end)), "w")
            tarfile.open(path, mode).close()  # type: ignore[call-overload]

    return ledger.file(f"{folder}/{name}", write)


def fetched(ledger: Ledger, name: str) -> str:
    """A file that a script fetches: an archive, weights that are never read, or words."""
    name = os.path.basename(name)  # noqa: PTH119
    if ARCHIVE.search(name):
        return archive(ledger, name)
    if name.endswith((".h5", ".hdf5", ".keras")):
        # Never read: load_weights leaves such a file alone.
        return ledger.file(f"weights/{name}", _write_nothing)
    return plain(ledger)


def _write_nothing(path: str) -> None:
    """Write an empty file."""
    with open(path, "wb"):  # noqa: PTH123
        pass


def content(ledger: Ledger) -> str:
    """A file that is read whole and then decoded."""

    def write(path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(marked(0))

    return ledger.file("content", write)


def zeros(ledger: Ledger, record_bytes: int, header_bytes: int = 0, footer_bytes: int = 0) -> str:
    """A file of records of fixed length; none of it takes room on the disk."""
    count = max(RECORDS, min(_FIXED_RECORDS, _FIXED_BYTES // max(record_bytes, 1)))
    size = header_bytes + record_bytes * count + footer_bytes

    def write(path: str) -> None:
        with open(path, "wb") as file:  # noqa: PTH123
            file.truncate(size)

    return ledger.file(f"fixed-{record_bytes}-{size}", write)
