"""Files that are named like a profile and are none: recognised, with the next step."""

HEAD = 4096
"""Bytes at a file's start that identify it."""
REPLACED = b"\xef\xbf\xbd"
"""U+FFFD: replaces a byte that could not be decoded as text."""
MOST_REPLACED = 8
STARTS = (
    (b"\x1f\x8b", "gzip-compressed; uncompress it first (gunzip)"),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS, not the file: fetch it with `git lfs pull`",
    ),
    (b"PK\x03\x04", "a zip archive; unpack it first (unzip)"),
    (b"SQLite format 3", "not an XSpace but a database; the profile is the *.xplane.pb beside it"),
    (b'{"', "not an XSpace but JSON: of a trace viewer's export the profile is the *.xplane.pb"),
    (b"<", "not an XSpace but a web page: was it saved from a browser?"),
)


def stranger(head: bytes) -> str | None:
    """The kind of a file that is no XSpace, by its first bytes, where it is known."""
    known = next((what for start, what in STARTS if head.lstrip().startswith(start)), None)
    if known is None and head.count(REPLACED) >= MOST_REPLACED:
        return "damaged: it was copied as text (UTF-8), which lost its bytes; copy it as binary"
    return known
