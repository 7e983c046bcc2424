"""Gives folders and files other names where the layer over them cannot: by a copy in the layer.

An overlay in a user namespace renames no folder that lies below it, and nothing has another name in
another layer. Where both names lie in one file system, as they are without layers, the copy stands
for what the system would have done; else the error is the job's own.
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
    """The calls that give another name, each tried as it is first."""

    def __init__(self, mount_points: Sequence[str]) -> None:
        """`mount_points`: where file systems begin, as they are without layers."""
        self._mount_points = mount_points

    def install(self) -> dict[object, Call]:
        """Put them in the place of Python's; each with what it became."""
        known = os.rename, os.replace
        hooks.around(table.RENAMED, self.renamed)
        return dict(zip(known, (os.rename, os.replace), strict=True))

    def watch_tensorflow(self, tf: Library) -> None:
        """The same for TensorFlow's."""
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
        """Whether both names lie in one file system, as it is without layers."""
        return self._begins(src) == self._begins(dst)

    def _begins(self, path: FileName) -> str:
        """Where the file system of a path begins."""
        folder = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
        inside = [
            each for each in self._mount_points if f"{folder}/".startswith(each.rstrip("/") + "/")
        ]
        return max(inside, key=len, default="/")


def _copied(source: FileName, dst: FileName) -> None:
    """Copy something and remove it; where that cannot be done it is there as it was."""
    src = os.fsdecode(source)
    is_folder = os.path.isdir(src) and not os.path.islink(src)
    if is_folder and os.path.isdir(dst):
        os.rmdir(dst)  # as the system does with an empty one, and refuses any other
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
