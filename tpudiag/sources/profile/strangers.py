"""What lies under a profile's name and is none: said by what to do about it."""

HEAD = 4096
"""Bytes of a file that tell."""
REPLACED = b"\xef\xbf\xbd"
"""U+FFFD: what stands for a byte that was read as text and could not be."""
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
    """What a file is by its first bytes, where that is known and no XSpace."""
    known = next((what for start, what in STARTS if head.lstrip().startswith(start)), None)
    if known is None and head.count(REPLACED) >= MOST_REPLACED:
        return "damaged: it was copied as text (UTF-8), which lost its bytes; copy it as binary"
    return known
