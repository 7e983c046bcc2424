"""The run folders of captures: named by the time, in a TensorBoard log folder, here or gs://."""

import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tpudiag.errors import UsageError
from tpudiag.sources.profile.locate import is_url

T = TypeVar("T")


class RunFolder(Protocol):
    """A folder for one capture; failures raise OSError."""

    @property
    def url(self) -> str:
        """Its location, for trainers and for readers."""
        ...

    def read(self, name: str) -> bytes | None:
        """A file in it, None where there is none."""
        ...

    def write(self, name: str, content: memoryview) -> None:
        """A file in it, whole or not at all."""
        ...

    def remove(self, name: str) -> None:
        """Remove a folder in it, with all that it holds."""
        ...


class LocalRun:
    """A folder on this machine."""

    def __init__(self, log_dir: str) -> None:
        self._above = Path(log_dir).expanduser().absolute() / "plugins" / "profile"
        self._above.mkdir(parents=True, exist_ok=True)
        self._folder = _new(self._made)

    def _made(self, name: str) -> Path:
        """Create the folder, unless it exists."""
        folder = self._above / name
        folder.mkdir()
        return folder

    @property
    def url(self) -> str:
        """Its whole path."""
        return str(self._folder)

    def read(self, name: str) -> bytes | None:
        """A file in it."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: memoryview) -> None:
        """Write beside the file, then rename."""
        with tempfile.NamedTemporaryFile(
            prefix=".tpudiag.", dir=self._folder, delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.write(content)
                stream.flush()
                # A temporary file is private; TensorBoard may read the log folder as another user.
                temporary.chmod(0o644)
                temporary.replace(self._folder / name)
            except BaseException:
                with suppress(OSError):
                    temporary.unlink()
                raise

    def remove(self, name: str) -> None:
        """A folder in it."""
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def tidy(self) -> None:
        """Remove it where it is empty, with the parents that were created for it."""
        for left in (self._folder, self._above, self._above.parent):
            with suppress(OSError):
                left.rmdir()


class RemoteRun:
    """A folder behind a URL that fsspec opens; objects appear whole."""

    def __init__(self, log_dir: str) -> None:
        above = f"{log_dir.rstrip('/')}/plugins/profile"
        self._files: Any = _plain(lambda: import_module("fsspec.core").url_to_fs(above)[0])
        self.url = _new(lambda name: self._free(f"{above}/{name}"))

    def _free(self, url: str) -> str:
        """The folder, unless it exists."""
        if _plain(lambda: self._files.exists(url)):
            raise FileExistsError(url)
        return url

    def read(self, name: str) -> bytes | None:
        """A file in it."""
        try:
            return bytes(_plain(lambda: self._files.cat_file(f"{self.url}/{name}")))
        except FileNotFoundError:
            return None

    def write(self, name: str, content: memoryview) -> None:
        """A file in it."""

        def put() -> None:
            self._files.makedirs(self.url, exist_ok=True)
            self._files.pipe_file(f"{self.url}/{name}", bytes(content))

        _plain(put)

    def remove(self, name: str) -> None:
        """A folder in it."""
        with suppress(OSError):
            _plain(lambda: self._files.rm(f"{self.url}/{name}", recursive=True))


@contextmanager
def run_folder(log_dir: str) -> Generator[RunFolder, None, None]:
    """A new folder for one capture; a local one is removed again where it stays empty."""
    try:
        made = RemoteRun(log_dir) if is_url(log_dir) else LocalRun(log_dir)
    except OSError as error:
        raise UsageError(f"--log-dir {log_dir}: {error.strerror or error}") from error
    try:
        yield made
    finally:
        if isinstance(made, LocalRun):
            made.tidy()


def _new(make: Callable[[str], T]) -> T:
    """`make` applied to the time as a name, or to a later second where that is taken."""
    when = time.time()
    while True:
        try:
            # As TensorFlow names its own runs, by which TensorBoard sorts them.
            return make(time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(when)))
        except FileExistsError:
            when += 1


def _plain(call: Callable[[], T]) -> T:
    """fsspec's result; its many kinds of errors become OSError, in one line."""
    try:
        return call()
    except OSError:
        raise
    except Exception as error:
        raise OSError(" ".join(str(error).split()) or type(error).__name__) from error
