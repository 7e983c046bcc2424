"""The sends that a rehearsal blocked, and failures caused by that alone."""

from enum import Enum

from tpudiag.model import Location
from tpudiag.records import dataclass


class SendKind(Enum):
    """The kind of a held-back send. The value is its noun in reports."""

    UPLOAD = "upload"
    """A file written to a bucket or another remote file system."""
    DELETION = "deletion"
    """A file removed there."""
    RUN = "run"
    """A run of an experiment tracker, kept on this machine; `what` is the tracker's name."""
    PUSH = "push"
    """A push to a model hub, or of a program such as git."""
    REQUEST = "request"
    """An HTTP request that sends: a webhook, an API; answered as done."""
    MAIL = "mail"
    UNJUDGED = "connection"
    """By an unknown protocol: the connection was made, and its data was sent."""


@dataclass(frozen=True)
class HeldBack:
    """A send of the job that was held back, and answered as if it were done.

    For UNJUDGED, one that was allowed.
    """

    kind: SendKind
    what: str
    """Its destination: `gs://bucket`, `POST hooks.slack.com`, `wandb`, `git push`. Never a path or
    an argument that may contain a secret."""
    count: int = 1
    location: Location | None = None
    """The user's line that sent first; None where a child process did."""


class RefusedBy(Enum):
    """The part of the rehearsal that made a statement fail."""

    WALL = "the wall around the job's files"
    OFFLINE = "--offline"
    ANSWER = "the answer to what was not sent"
    ROOM = "the room in $TMPDIR for what is held back, which is full"
    DEFECT = "a defect of tpudiag in what holds back"


@dataclass(frozen=True)
class Refusal:
    """The statement that ended the job because the rehearsal holds something back, through no fault
    of its own: no check blames the script."""

    by: RefusedBy
    error: str
    location: Location | None = None
