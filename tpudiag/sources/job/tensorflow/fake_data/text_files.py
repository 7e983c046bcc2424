"""Contents of files that are stood in for."""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

from tpudiag.sources.job.points import Library

from .ledger import CLASSES, MARKER, RECORDS, Ledger

SIZE = 512
"""Height and width of a picture."""
_PACKED: dict[str, Callable[[bytes], bytes]] = {"GZIP": gzip.compress, "ZLIB": zlib.compress}
PIECES = 1024
"""Pieces of a file of those of one size: labels and pictures, of which each file has as many."""
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
        with tf.io.TFRecordWriter(path, compression or None) as writer:
            for number in range(ledger.records):
                writer.write(marked(number).encode())

    return ledger.file(f"{compression}records.tfrecord", write)


def lines(ledger: Ledger, compression: str = "") -> str:
    """A text file."""
    text = "".join(marked(number) + "\n" for number in range(RECORDS)).encode()
    return _packed(ledger, f"{compression}lines.txt", compression, text)


def pieces(ledger: Ledger, compression: str, size: int, before: int, behind: int) -> str:
    """A file of pieces of one size, with values as of classes."""
    values = (bytes(range(len(CLASSES))) * (size * PIECES))[: size * PIECES]
    content = bytes(before) + values + bytes(behind)
    return _packed(ledger, f"{compression}{size}-{before}-{behind}.bytes", compression, content)


def _packed(ledger: Ledger, name: str, compression: str, content: bytes) -> str:
    """A file, packed as the script unpacks it."""
    packed = _PACKED.get(compression, bytes)(content)
    return ledger.file(name, lambda path: Path(path).write_bytes(packed))
