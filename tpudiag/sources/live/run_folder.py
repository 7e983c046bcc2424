"""The run folders of captures: named by the time, in a TensorBoard log folder, here or gs://."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from tpudiag.errors import UsageError, line_of
from tpudiag.sources.profile.locate import is_url

T = TypeVar("T")


class RunFolder:
    """A new folder for one capture, local or behind a URL; what fails in it raises OSError."""

    def __init__(self, log_dir: str) -> None:
        self._remote = is_url(log_dir)
        top = log_dir.rstrip("/") if self._remote else str(Path(log_dir).expanduser().absolute())
        self._above = f"{top}/plugins/profile"
        self._files: Any = _plain(lambda: import_module("fsspec.core").url_to_fs(self._above)[0])
        if not self._remote:
            _plain(lambda: self._files.makedirs(self._above, exist_ok=True))
        self.url = self._new()
        """Where it is, for trainers and for those who read it."""

    def _new(self) -> str:
        """A folder with the time as its name: a later second where this one is taken."""
        when = time.time()
        while True:
            # As TensorFlow names its own runs, by which TensorBoard sorts them.
            name = time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(when))
            url, when = f"{self._above}/{name}", when + 1
            with suppress(FileExistsError):
                if not self._remote:
                    Path(url).mkdir()  # nobody else has it then
                elif _plain(partial(self._files.exists, url)):
                    continue
                return url

    def read(self, name: str) -> bytes | None:
        """A file in it, None where there is none."""
        with suppress(FileNotFoundError):
            return bytes(_plain(lambda: self._files.cat_file(f"{self.url}/{name}")))
        return None

    def write(self, name: str, content: memoryview) -> None:
        """A file in it, whole or not at all."""

        def put() -> None:
            # On a disk it is written beside, and renamed at the end of the transaction.
            with self._files.transaction:
                self._files.pipe_file(f"{self.url}/{name}", bytes(content))

        _plain(put)

    def remove(self, name: str) -> None:
        """Remove a folder in it, with all that it holds."""
        with suppress(OSError):
            _plain(lambda: self._files.rm(f"{self.url}/{name}", recursive=True))

    def tidy(self) -> None:
        """Remove it on this machine where it is empty, and those above that it was made with."""
        above = Path(self._above)
        for left in () if self._remote else (Path(self.url), above, above.parent):
            with suppress(OSError):
                left.rmdir()


@contextmanager
def run_folder(log_dir: str) -> Generator[RunFolder, None, None]:
    """A new folder for one capture; a local one is removed again where it stays empty."""
    try:
        made = RunFolder(log_dir)
    except OSError as error:
        raise UsageError(f"--log-dir {log_dir}: {error.strerror or error}") from error
    try:
        yield made
    finally:
        made.tidy()


def _plain(call: Callable[[], T]) -> T:
    """fsspec's result; its many kinds of errors become OSError, in one line."""
    try:
        return call()
    except OSError:
        raise
    except Exception as error:
        raise OSError(line_of(error)) from error
