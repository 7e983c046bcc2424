"""Which paths cannot be reached, and names for the files of a pattern."""

import os
import re
import socket
from collections.abc import Callable
from functools import cache
from types import CodeType

from tpudiag.sources.job.points import bounded_call

from . import batch_sizes
from .ledger import CLASSES, FILES, RECORDS

REMOTE = r"(gs|s3|hdfs|viewfs|az|abfss?)://.*"
"""A path that no disk of this machine holds (RE2 and Python)."""
_HOSTED = ("/kaggle/input", "../input", "/content/", "/gcs/", "/mnt/disks/")
"""Folders that notebook hosts and TPU VMs mount."""
_STORAGE = ("storage.googleapis.com", 443)
_CONNECT_S, _ANSWER_S = 2.0, 20.0
_buckets: dict[str, bool] = {}
_asked: dict[str, Callable[[str], bool]] = {}
in_vain: dict[CodeType, int] = {}
"""The user's code -> its line that asked last for a path that is not there, or by a library."""
_fetched: list[str] = []
"""Folders of files that were not fetched."""
PICTURES_LISTED = 1024
"""Pictures that a pattern is answered with at least: scripts divide them by the global batch."""
_OF_ONE = re.compile(r"\.(jpe?g|png|bmp|gif|tiff?|npy|wav|flac|mp3|ogg|m4a)$", re.I)
"""Files that hold an example each."""
_FETCHES = re.compile(r"\s*(wget|curl|gdown|kaggle|gsutil|gcloud storage|aria2c)\b")
_DATA = re.compile(
    rf"tf_?rec|-of-\d|\.(csv|tsv|jsonl?|txt|npz|parquet|gz|zip|records?)$|{_OF_ONE.pattern}", re.I
)


def is_remote(path: object) -> bool:
    """Whether a path begins with a scheme of a remote file system, and does not answer."""
    text = text_of(path)
    return text is not None and re.match(REMOTE, text) is not None and not _answers(text)


def text_of(path: object) -> str | None:
    """A path as text; None for what is none."""
    if isinstance(path, bytes):
        return path.decode("utf-8", "surrogateescape")
    plain = str(path) if hasattr(path, "__fspath__") else path
    return plain if isinstance(plain, str) else None


def ask_with(exists: Callable[[str], bool]) -> None:
    """How it is asked whether a bucket is there; without it all are away."""
    _asked.clear()
    _asked["exists"] = exists


def _answers(path: str) -> bool:
    """Whether the bucket of a path can be read from here; it is asked once."""
    root = "/".join(path.split("/")[:3])
    if root not in _buckets:
        exists = _asked.get("exists")
        # First, so that what is asked does not ask again.
        _buckets[root] = False
        if exists is not None and root.startswith("gs://") and _has_storage():
            _buckets[root] = bool(bounded_call.within(_ANSWER_S, lambda: exists(root + "/")))
    return _buckets[root]


@cache
def _has_storage() -> bool:
    """Whether Cloud Storage is in reach: TensorFlow tries a host that is not for a minute."""
    try:
        socket.create_connection(_STORAGE, _CONNECT_S).close()
    except OSError:
        return False
    return True


def is_absent(path: object) -> bool:
    """Whether a path of data cannot be reached: remote, or local and not there."""
    text = text_of(path) or ""
    missing = looks_like_data(text) and not os.path.lexists(text)
    return is_remote(path) or is_hosted(path) or missing


def is_missing(path: object) -> bool:
    """Whether a path that only data can have cannot be reached, whatever its name."""
    return is_remote(path) or not os.path.lexists(text_of(path) or "")


def fetched(folder: str) -> None:
    """Files are said to be fetched to a folder: what is not there is as on a host's disk."""
    _fetched.append(folder)


def fetched_by(command: str) -> bool:
    """Whether a command of a notebook's, which are not run, would fetch files that are not here."""
    words = [os.path.expanduser(word) for word in command.split()]
    places = [os.path.basename(word) if "://" in word else word for word in words]
    if not _FETCHES.match(command) or any(map(os.path.isfile, places)):
        return False
    for folder in {os.path.dirname(place) for place in places} - {"", "/", "."}:
        fetched(folder)
    return True


def is_hosted(path: object) -> bool:
    """Whether a path lies in a folder that a notebook host mounts, and is not there."""
    text = text_of(path) or ""
    return text.startswith((*_HOSTED, *_fetched)) and not os.path.lexists(text)


def looks_like_data(path: str) -> bool:
    """Whether a name is one of a file of data, not of a folder that a job writes."""
    return bool(_DATA.search(path))


def matching(pattern: str, records: int = RECORDS) -> list[str]:
    """Names that match a pattern: files enough to be split, a folder for each class.

    Scripts read how many records a file has off its name: `train-03-512.tfrec` is what they ask.
    """
    *folders, last = pattern.split("/")
    tops = [""]
    for part in folders:
        names = dict.fromkeys(_least(part.replace("*", name, 1)) for name in CLASSES)
        tops = [f"{top}{name}/" for top in tops for name in names]
    if len(tops) > 1 and last == "*":
        last = "*.jpg"
    if _OF_ONE.search(last):
        each = -(-max(PICTURES_LISTED, batch_sizes.examples()) // len(tops))
        # Numbers, whole or split: `int(name.split("_")[0])` is a label.
        numbers = ["_".join([str(at % 2)] * 3 + [f"{at:05d}"]) for at in range(each)]
    else:
        numbers = [f"{file:02d}-{records}" for file in range(FILES)]
    filled = dict.fromkeys(_filled(last, number) for number in numbers)
    return [top + name for top in tops for name in filled]


def _filled(part: str, number: str) -> str:
    """A pattern with its first `*` filled, after a name; the last has the last number.

    `train*-*.tfrec` is `train-00-512.tfrec`.
    """
    head, star, tail = part.partition("*")
    if star:
        if "-" in number:
            head = head if head.endswith(("-", "_", ".")) else f"{head or 'file'}-"
            if "*" in tail:
                number, _, last = number.rpartition("-")
                tail = last.join(tail.rsplit("*", 1))
        part = head + number + tail
    return _least(part)


def _least(part: str) -> str:
    """A pattern whose wildcards stand for the least."""
    return re.sub(r"\[[^\]]*\]|[*?]", "0", part)
