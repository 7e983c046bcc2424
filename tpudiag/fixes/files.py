"""The user's files: their bytes, text and mode, and whether they may be changed."""

import contextlib
import io
import os
import re
import stat
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path

_GENERATED = re.compile(
    r"@generated|do not (edit|modify)|(auto-?|automatically )generated (by|from|file|code)|"
    r"this file (was|is) (auto-?|automatically )?generated",
    re.IGNORECASE,
)
_HEAD_LINES = 12
_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg", ".hg")
_INSTALLED = ("site-packages", "dist-packages")


class Refused(Exception):
    """A file may not be changed; the text names it with the reason, in one line."""


@dataclass(frozen=True)
class UserFile:
    """A file as it was read."""

    name: str
    """The user's name for it."""
    path: Path
    """Its real path, with links resolved."""
    data: bytes
    encoding: str

    @property
    def text(self) -> str:
        """The text with its own line ends, without a byte order mark."""
        return self.data.decode(self.encoding).removeprefix("\ufeff")

    def encoded(self, text: str) -> bytes:
        """A text as bytes in this file's encoding; raises Refused where it cannot be encoded."""
        mark = "\ufeff" if self.data.decode(self.encoding).startswith("\ufeff") else ""
        try:
            return (mark + text).encode(self.encoding)
        except UnicodeEncodeError as error:
            raise Refused(f"{self.name}: {self.encoding} cannot hold the change") from error


def read(name: str, project: Path) -> UserFile:
    """A file of the user's project; raises Refused for one that may not be changed."""
    given = Path(name)
    try:
        path = given.resolve(strict=True)
        data = path.read_bytes()
        info = path.stat()
    except (OSError, RuntimeError) as error:
        raise Refused(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    # A change there would be lost with the next install, and is in no repository of the user's.
    if any(part in _INSTALLED for part in path.parts):
        raise Refused(f"{name} belongs to an installed package")
    linked = Path(os.path.abspath(given)) != path  # noqa: PTH100 (without following links)
    if not path.is_relative_to(project.resolve()) and (
        linked or not path.is_relative_to(Path.cwd())
    ):
        raise Refused(
            f"{name} is a link out of the project, to {path}"
            if linked
            else f"{name} lies outside the project {project}"
        )
    if not stat.S_ISREG(info.st_mode):
        raise Refused(f"{name} is no plain file")
    user_file = UserFile(name, path, data, _encoding(name, data))
    if _GENERATED.search("\n".join(user_file.text.splitlines()[:_HEAD_LINES])):
        raise Refused(f"{name} is generated, as it says itself: change what generates it")
    return user_file


def _encoding(name: str, data: bytes) -> str:
    """The source encoding according to Python; raises Refused where the file is not readable."""
    if name.endswith(".ipynb"):
        encoding = "utf-8"
    else:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except (SyntaxError, LookupError) as error:
            raise Refused(f"{name}: its encoding is not known") from error
    # Keep the mark as a character: the codec would drop it when writing.
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        # Some encodings have several forms of one text (ISO-2022): a patch must not change others.
        if data.decode(encoding).encode(encoding) != data:
            raise Refused(f"{name}: its {encoding} text cannot be kept as it is")
    except UnicodeError as error:
        raise Refused(f"{name}: it is not {encoding} text") from error
    return encoding


def project_of(name: str) -> Path:
    """A script's project folder: the nearest with a repository or build file."""
    folder = Path(name).absolute().parent
    for above in (folder, *folder.parents):
        if any((above / mark).exists() for mark in _MARKS):
            return above
    return folder


def refuse_read_only(user_file: UserFile) -> None:
    """Refuse a file that is not writable."""
    mode = user_file.path.stat().st_mode
    folder = user_file.path.parent
    # Check the mode as well, since root may ignore it.
    if not mode & 0o222 or not os.access(user_file.path, os.W_OK):
        raise Refused(f"{user_file.name} is read-only")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(f"{user_file.name}: its folder {folder} is read-only")


def write(user_file: UserFile, data: bytes) -> None:
    """Atomically replace an unchanged file's bytes, keeping its mode; else raise Refused."""
    refuse_read_only(user_file)
    path = user_file.path
    try:
        # In the same folder, so that the replacement is atomic.
        descriptor, temporary = tempfile.mkstemp(prefix=".tpudiag.", dir=path.parent)
    except OSError as error:
        raise Refused(f"{user_file.name}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp's files are private to their owner.
        info = path.stat()
        Path(temporary).chmod(stat.S_IMODE(info.st_mode))
        with contextlib.suppress(OSError):
            os.chown(temporary, info.st_uid, info.st_gid)
        # As late as possible: the user may have edited the file during the rehearsal.
        if path.read_bytes() != user_file.data:
            raise Refused(f"{user_file.name} was changed since it was read: nothing is written")
        Path(temporary).replace(path)
    except OSError as error:
        raise Refused(f"{user_file.name}: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
