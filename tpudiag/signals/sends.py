"""What a rehearsal kept from being sent or written, and what failed by that alone."""

from enum import Enum

from tpudiag.model import Location
from tpudiag.records import dataclass


class SendKind(Enum):
    """What kind of thing was to be sent. The value is its noun in reports."""

    UPLOAD = "upload"
    """A file of a bucket, or of another remote file system."""
    DELETION = "deletion"
    """The same, to be removed there."""
    RUN = "run"
    """A run of an experiment tracker, kept on this machine; `what` is the tracker's name."""
    PUSH = "push"
    """A push to a model hub, or of a program such as git."""
    REQUEST = "request"
    """An HTTP request that sends: a webhook, an API; answered as done."""
    MAIL = "mail"
    UNJUDGED = "connection"
    """Of a protocol that nobody here reads: it was made, and what was sent by it was sent."""


@dataclass(frozen=True)
class HeldBack:
    """Something that the job was not let send; it was answered as if it had been.

    Of UNJUDGED something that it was let do.
    """

    kind: SendKind
    what: str
    """Where it was to go: `gs://bucket`, `POST hooks.slack.com`, `wandb`, `git push`. Never a
    path or an argument in which a secret may be."""
    count: int = 1
    location: Location | None = None
    """The user's line that sent first; None where a child process did."""


class RefusedBy(Enum):
    """What of the rehearsal let a statement fail."""

    WALL = "the wall around the job's files"
    OFFLINE = "--offline"
    ANSWER = "the answer to what was not sent"
    ROOM = "the room in $TMPDIR for what is held back, which is full"
    DEFECT = "a defect of tpudiag in what holds back"


@dataclass(frozen=True)
class Refusal:
    """The statement that ended the job by what the rehearsal holds back, not by a fault of its
    own: no check takes it for the script's error."""

    by: RefusedBy
    what: str
    """The path, the host, or what was held back."""
    error: str
    location: Location | None = None
