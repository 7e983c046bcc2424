"""Known errors of a log that is still being written, piece by piece as it comes."""

from io import BytesIO

from .model import Match
from .search import LONGEST_MATCH, scan

CONTEXT_LINES = 20
"""Lines before and after an error that are kept with it: they decide between rival causes."""
LONGEST_CONTEXT = 8192
LONGEST_TAIL = 1 << 16


class GrowingLog:
    """What a growing log said so far, in bounded memory: its errors, and its end.

    Each piece is searched once, together with the end of the one before: an error that is
    split over two pieces is seen when its second half comes.
    """

    def __init__(self) -> None:
        self._end = b""
        self._kept: dict[str, bytes] = {}
        self._tail = b""

    def feed(self, piece: bytes | str) -> tuple[Match, ...]:
        """Take in what was written since; the errors that it says for the first time, best first.

        Noise is left out; line numbers count from the piece's own beginning.
        """
        fresh = piece.encode(errors="replace") if isinstance(piece, str) else piece
        text = self._end + fresh
        matches = [each for each in scan(BytesIO(text)) if not each.error.noise]
        first_told = [each for each in matches if each.error.id not in self._kept]
        for each in first_told:
            self._kept[each.error.id] = _around(each)
        # As long as a match may be: what begins earlier was whole in this piece.
        self._end = text[-LONGEST_MATCH:]
        self._tail = (self._tail + fresh)[-LONGEST_TAIL:]
        return tuple(first_told)

    @property
    def telling(self) -> str:
        """All that an answer needs: each error with the lines around it, then the log's end."""
        kept = [text for text in self._kept.values() if text not in self._tail]
        return b"\n".join([*kept, self._tail]).decode(errors="replace")


def _around(match: Match) -> bytes:
    """The lines in which an error stands, and those around them."""
    text, line = match.near
    rows, near = text.split("\n"), b""
    for first in (max(0, line - 1 - CONTEXT_LINES), line - 1):
        near = "\n".join(rows[first : line + CONTEXT_LINES]).encode()
        if len(near) <= LONGEST_CONTEXT:
            break
    return near[:LONGEST_CONTEXT]
