"""Renames folders and files where the layer over them cannot: by a copy in the layer.

An overlay in a user namespace cannot rename a folder of its lower layer, nor move anything to
another layer. Where both names lie in one file system without layers, the copy replaces the
system's rename; otherwise the error is the job's own.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Sequence
from typing import TypeAlias

from tpudiag.sources.job.points import Call, Library, hooks, table

FileName: TypeAlias = str | bytes | os.PathLike[str]
_BY_LAYERS = (errno.EXDEV, errno.EBUSY)


class Renames:
    """The renaming calls, each tried unchanged first."""

    def __init__(self, mount_points: Sequence[str]) -> None:
        """`mount_points`: where file systems begin without layers."""
        self._mount_points = mount_points

    def install(self) -> dict[object, Call]:
        """Replace Python's calls; returns each original with its replacement."""
        known = os.rename, os.replace
        hooks.around(table.RENAMED, self.renamed)
        return dict(zip(known, (os.rename, os.replace), strict=True))

    def watch_tensorflow(self, tf: Library) -> None:
        """Replace TensorFlow's calls."""
        hooks.around(table.GFILE_RENAMED, self.renamed_by_tensorflow, tf)

    def renamed(self, original: Call, src: FileName, dst: FileName, **kwargs: object) -> None:
        """In the place of os.rename."""
        try:
            original(src, dst, **kwargs)
        except OSError as error:
            if error.errno not in _BY_LAYERS or kwargs or not self._in_one(src, dst):
                raise
            _copied(src, dst)

    def renamed_by_tensorflow(
        self, original: Call, src: FileName, dst: FileName, overwrite: bool = False
    ) -> None:
        """In the place of tf.io.gfile.rename."""
        try:
            original(src, dst, overwrite)
        except Exception as error:
            by_layers = "cross-device" in str(error).lower() or "busy" in str(error).lower()
            if not by_layers or not self._in_one(src, dst):
                raise
            _copied(src, dst)

    def _in_one(self, src: FileName, dst: FileName) -> bool:
        """Whether both names lie in one file system without layers."""
        return self._begins(src) == self._begins(dst)

    def _begins(self, path: FileName) -> str:
        folder = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
        inside = [
            each for each in self._mount_points if f"{folder}/".startswith(each.rstrip("/") + "/")
        ]
        return max(inside, key=len, default="/")


def _copied(source: FileName, dst: FileName) -> None:
    """Copy something and remove the original; on failure nothing changes."""
    src = os.fsdecode(source)
    is_folder = os.path.isdir(src) and not os.path.islink(src)
    if is_folder and os.path.isdir(dst):
        os.rmdir(dst)  # the system replaces an empty folder, and refuses any other
    beside = os.fsdecode(dst).rstrip("/") + ".tpudiag-part"
    try:
        if is_folder:
            shutil.copytree(src, beside, symlinks=True)
        else:
            shutil.copy2(src, beside, follow_symlinks=False)
        os.replace(beside, dst)
    except BaseException:
        with contextlib.suppress(OSError):
            shutil.rmtree(beside) if is_folder else os.unlink(beside)
        raise
    shutil.rmtree(src) if is_folder else os.unlink(src)
