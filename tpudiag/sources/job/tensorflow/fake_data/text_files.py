"""Contents of files that are stood in for."""

import gzip
import os
import zlib
from collections.abc import Callable

from tpudiag.sources.job.points import Library

from .ledger import CLASSES, FILES, MARKER, RECORDS, Ledger

SIZE = 512
"""Height and width of a picture."""
_TFRECORD = "records.tfrecord"
_COMPRESSIONS = ("", "GZIP", "ZLIB")
_PACKED: dict[str, Callable[[bytes], bytes]] = {"GZIP": gzip.compress, "ZLIB": zlib.compress}
_PARSED_BYTES = 2**30
"""What all records of a pattern may hold together once they are parsed."""
_FEWEST_RECORDS = 16
WORDS = "the step reads a batch of records and the loss falls while it learns from what is there"
"""Words of which texts are made."""


def marked(number: int) -> str:
    """A record or line that says that it is none; it can be taken for a path, or for words."""
    words = WORDS.split()
    turned = words[number % len(words) :] + words[: number % len(words)]
    return f"{MARKER}/{CLASSES[number % len(CLASSES)]}/{number} " + " ".join(turned)


def records(tf: Library, ledger: Ledger, compression: str = "") -> str:
    """A TFRecord file, packed as the script unpacks it."""

    def write(path: str) -> None:
        _write_records(tf, path, ledger.records, compression)

    return ledger.file(compression + _TFRECORD, write)


def keep_records_within(tf: Library, ledger: Ledger, record_bytes: int) -> None:
    """Let the TFRecord file hold fewer records, where all of a pattern would not fit the memory.

    Scripts read whole test sets as one batch, or shuffle them in a large buffer.
    """
    fitting = max(_PARSED_BYTES // (FILES * max(record_bytes, 1)), _FEWEST_RECORDS)
    if fitting >= ledger.records:
        return
    ledger.records = fitting
    for compression in _COMPRESSIONS:
        path = os.path.join(ledger.folder, compression + _TFRECORD)
        if os.path.exists(path):
            _write_records(tf, path + ".new", fitting, compression)
            os.replace(path + ".new", path)  # what is open goes on with the old one


def _write_records(tf: Library, path: str, count: int, compression: str) -> None:
    """Write so many records."""
    with tf.io.TFRecordWriter(path, compression or None) as writer:
        for number in range(count):
            writer.write(marked(number).encode())


def lines(ledger: Ledger, compression: str = "") -> str:
    """A text file of so many lines, packed as the script unpacks it."""

    def write(path: str) -> None:
        text = "".join(marked(number) + "\n" for number in range(RECORDS)).encode()
        with open(path, "wb") as file:
            file.write(_PACKED.get(compression, bytes)(text))

    return ledger.file(f"{compression}lines.txt", write)


def content(ledger: Ledger) -> str:
    """A file that is read whole and then decoded."""

    def write(path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(marked(0))

    return ledger.file("content", write)
