"""What is asked of paths that are not there, by TensorFlow, Python, Keras, pandas or NumPy.

Each call that takes a path is a row, with what answers for it: a table, an array, a hole, or names
for a folder or a pattern; what reads such a file fails, and its statement is passed over.
"""

import importlib
import io
import math
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any, cast

from tpudiag.sources.job.points import Call, Kwargs, Library, barrier, hooks, table
from tpudiag.sources.job.points.point import Point

from . import batch_sizes, holes, paths
from .asking import by_user, ending_asked, user_frame
from .hole_sizes import LENGTH
from .holes import Hole, batched, used
from .ledger import CLASSES, SIZE, Ledger

_VALUES = 2**13 * 3 * 7**2
"""Of an array in a file that does not tell its shape: a script draws windows of it, or pictures."""


def in_vain() -> None:
    """The user's line that runs asks for a path that is not there."""
    frame = user_frame()
    if frame is not None:
        paths.in_vain[frame.f_code] = frame.f_lineno


def _folder_of(pattern: object) -> str:
    """The folder in which a pattern begins to match."""
    return re.split(r"[*?\[]", paths.text_of(pattern) or "")[0].rpartition("/")[0]


def _is_below(path: object) -> bool:
    """Whether a pattern is of a folder that is not there."""
    folder = _folder_of(path)
    return bool(folder) and not os.path.isdir(folder)


class Files:
    """Answers for paths that cannot be reached; `written` tells what the job wrote itself."""

    def __init__(self, ledger: Ledger, written: Callable[[object], bool]) -> None:
        self._ledger, self._written = ledger, written
        hosted = paths.is_hosted

        def listed(path: str, *_: object) -> list[str]:
            # Of pictures or of folders of them: the script asks which are folders.
            return [] if paths.looks_like_data(path) else [*CLASSES, *self._below(path)]

        def children(path: str, _: object) -> Any:
            return (pathlib.Path(path, name) for name in listed(path))

        def below(path: str, _: object, pattern: str, *__: object, **___: object) -> Any:
            if not (hosted(path) or paths.looks_like_data(pattern)):
                return NotImplemented
            return map(pathlib.Path, self.names(f"{path}/{pattern}"))

        def is_class(path: object) -> bool:
            return hosted(path) and os.path.basename(paths.text_of(path) or "") in CLASSES

        def is_file(path: object) -> bool:
            # Of a tree that is away: a job may write to /content itself, and to mounted disks.
            text = paths.text_of(path) or ""
            mounted = text.startswith(("/gcs/", "/mnt/"))
            of_tree = hosted(path) and os.path.dirname(text) != "/content" and not mounted
            return of_tree and paths.looks_like_data(text) and by_user()

        def asked(original: Call, *args: object, **options: object) -> object:
            found = original(*args, **options)
            if not found and (by_user() or any(map(paths.is_absent, args))):
                in_vain()
            return found

        for at in (table.FILE_ASKED, table.FOLDER_ASKED):
            hooks.around(at, asked)
        self._answer(table.FOLDER_LISTED, listed, hosted)
        self._answer(table.PATHS_LISTED, children, hosted)
        self._answer(table.FOLDER_ASKED, lambda *_, **__: True, is_class)
        self._answer(table.FILE_ASKED, lambda *_, **__: True, is_file)
        self._answer(table.FOLDER_WALKED, self._walked, hosted)
        self._answer(table.PATHS_MATCHED, below, paths.is_missing)
        hooks.around(table.FILES_MATCHED, self._matched)

    def watch_tensorflow(self, tf: Library) -> None:
        """Its own ways to files, without a look for a bucket, which takes a minute."""
        paths.ask_with(tf.io.gfile.exists)

        def refused(path: str, *args: object, mode: object = "r", **_: object) -> object:
            mode = args[-1] if len(args) > 2 else mode
            if isinstance(mode, str) and ("+" in mode or "r" not in mode):
                return NotImplemented
            self._ledger.note(path)
            said = f"{path}; No such file or directory"
            raise barrier.for_job(tf.errors.NotFoundError(None, None, said))

        def listed(path: str, *_: object) -> list[str]:
            return self._below(path, ".tfrec")

        def of_names(path: str, *args: object, shuffle: object = None, **_: object) -> object:
            known = tf.io.gfile.glob(path) or self.names(path)
            made = tf.data.Dataset.from_tensor_slices(known)
            return made if False in (shuffle, *args) else made.shuffle(max(len(known), 1))

        def named(path: str, *_: object, **__: object) -> object:
            return tf.constant(tf.io.gfile.glob(path), tf.string)

        def is_folder(path: str, *_: object) -> bool:
            return "." not in os.path.basename(path)

        remote, anywhere = paths.is_remote, paths.is_absent
        answers: dict[Point, tuple[Call, Callable[[object], bool]]] = {
            table.GFILE_EXISTS: (self._exists, remote),
            table.GFILE_IS_FOLDER: (is_folder, remote),
            table.GFILE_LISTED: (listed, remote),
            table.GFILE_COPIED: (refused, anywhere),
            table.FILE_READ: (refused, remote),
            table.FILES_NAMED: (named, lambda _: True),
            table.LATEST_CHECKPOINT: (lambda *_, **__: in_vain(), remote),
            table.MODEL_LOADED: (self._said("a model"), anywhere),
        }
        self._answer(table.GFILE_OPENED, refused, anywhere)
        self._answer(table.FILES_LISTED, of_names, lambda path: anywhere(path) or _is_below(path))
        self._answer(table.CHECKPOINT_RESTORED, self._said("variables stay as initialised"), remote)
        # `import tensorflow.compat.v2 as tf` has modules of its own for the same functions.
        for api in (tf, tf.compat.v2, tf.compat.v1):
            hooks.around(table.GFILE_MATCHED, self._matched, api)
            for at, (give, away) in answers.items():
                self._answer(at, give, away, api)

    def watch_keras(self, keras: Library) -> None:
        """Folders that it makes batches of, and weights, which are left as initialised."""

        def of_files(options: Kwargs) -> Hole:
            made = batched(options.get("batch_size", 32))
            sides: Any = options.get("image_size") or options.get("target_size")
            colours = 1 if options.get("color_mode") == "grayscale" else 3
            return used(made, "reshape", (-1, *sides, colours)) if sides else made

        batches = self._said("batches of its files", of_files)
        for at in (table.KERAS_PICTURES, table.KERAS_TEXTS, table.FOLDER_GENERATED):
            self._answer(at, batches, paths.is_missing, keras)

        def tabled(original: Call, *args: object, **options: object) -> object:
            made: Any = None if holes.holds((args, options)) else original(*args, **options)
            there = made is not None and made.samples
            return made if there else batches("pictures that a table names", **options)

        hooks.around(table.TABLE_GENERATED, tabled, keras)
        weights = self._said("weights stay as initialised")

        def loaded(original: Call, model: object, path: object, *args: Any, **opts: Any) -> object:
            """No checkpoint, where one was asked for in vain, is none to load."""
            vain = path is None and bool(paths.in_vain)
            return weights("weights") if vain else original(model, path, *args, **opts)

        hooks.around(table.WEIGHTS_LOADED, loaded, keras)
        self._answer(table.WEIGHTS_LOADED, weights, paths.is_hosted, keras)
        hooks.around(table.PICTURE_LOADED, self._picture, keras)

    def watch_pillow(self, _: object) -> None:
        """Pictures that a script opens one by one."""
        hooks.around(table.PICTURE_OPENED, self._picture)

    def watch_opencv(self, _: object) -> None:
        """Pictures that OpenCV reads: black ones."""

        def read(path: str, _: object, flags: object = 1) -> object:
            self._ledger.note(path)
            shape = (SIZE, SIZE) if flags == 0 else (SIZE, SIZE, 3)
            return importlib.import_module("numpy").zeros(shape, "uint8")

        self._answer(table.PICTURE_READ, read, paths.is_absent)

    def _picture(self, original: Call, path: object, *args: object, **options: object) -> object:
        """What opens a picture that is not there gets one."""
        if not paths.is_absent(path) or self._written(path):
            return original(path, *args, **options)
        self._ledger.note(str(path))
        drawn = io.BytesIO()
        importlib.import_module("PIL.Image").new("RGB", (SIZE, SIZE)).save(drawn, "PNG")
        return original(drawn, *args, **options)

    def watch_pandas(self, pandas: Library) -> None:
        """Tables that it would read."""

        def read(path: str, *_: object, **options: object) -> object:
            rows = LENGTH * max(1, math.ceil(batch_sizes.examples() / LENGTH))
            self._ledger.note(f"{path} (a table of {rows} rows)")
            return holes.of_table(pandas.DataFrame, rows, options)

        def tried(original: Call, *args: object, **options: object) -> object:
            """What is to be read as a table is one, however it is called, as `adult.data`."""
            path = next(iter((*args, *options.values())), None)
            if isinstance(path, Hole):  # pandas would read of it as of an open file
                return read("a table", **options)
            try:
                return original(*args, **options)
            except OSError:
                file = paths.text_of(path)
                if file is None or os.path.exists(file) or self._written(path):
                    raise
                return read(str(path), *args, **options)

        hooks.around(table.TABLE_READ, tried)
        self._answer(table.TABLE_READ, read, paths.is_absent)

    def watch_numpy(self, numpy: Library) -> None:
        """Arrays that stay in a file: of the shape that is told, or that is asked of them."""

        def mapped(
            path: str, _: object, __: object, dtype: Any = "uint8", mode: object = "r+",
            offset: object = 0, shape: Any = None, order: object = "C",
        ) -> object:  # fmt: skip
            del offset, order
            if "w" in str(mode):
                return NotImplemented
            self._ledger.note(f"{path} (an array)")
            return numpy.broadcast_to(numpy.zeros((), dtype), _VALUES if shape is None else shape)

        def made(original: Call, given: object, *args: object, **kwargs: object) -> object:
            """An array that the script makes of holes, which a library's own call still fills."""
            parts = cast("list[object]", given if isinstance(given, list) else [given])
            found = [each for each in parts if isinstance(each, Hole)]
            if not found or len(found) < len(parts) or not by_user():
                return original(given, *args, **kwargs)
            return found[0] if found[0] is given else holes.stacked(found)

        hooks.around(table.ARRAY_MADE, made)
        self._answer(table.ARRAY_MAPPED, mapped, lambda path: not os.path.lexists(str(path)))

    def _answer(
        self, at: Point, give: Call, away: Callable[[object], bool], of: object = None
    ) -> None:
        """Let `give(path, *args, **kwargs)` answer where a call's first path is `away`.

        What it answers NotImplemented to is the library's own.
        """

        def call(original: Call, *args: object, **kwargs: object) -> object:
            texts = (paths.text_of(each) for each in (*args, *kwargs.values()))
            path = next((text for text in texts if text and ("." in text or "/" in text)), None)
            answer: object = NotImplemented
            if path is not None and away(path) and not self._written(path):
                answer = give(path, *args, **kwargs)
            return original(*args, **kwargs) if answer is NotImplemented else answer

        hooks.around(at, call, of)

    def names(self, pattern: str) -> list[str]:
        """Files that a pattern matches which reaches nothing."""
        records = self._ledger.expect(batch_sizes.examples())
        known = paths.matching(pattern, records)
        self._ledger.note(f"{pattern} ({len(known)} files of {records} records)")
        return known

    def _matched(self, original: Call, pattern: Any, *args: object, **kwargs: object) -> list[str]:
        """Names for each pattern that reaches nothing."""
        names: list[str] = []
        if isinstance(pattern, Hole):
            return cast("list[str]", pattern)
        for each in [pattern] if paths.text_of(pattern) is not None else pattern:
            text = paths.text_of(each) or ""
            remote = paths.is_remote(text) and not self._written(text)
            known: Any = [] if remote else original(each, *args, **kwargs)
            of_data = original.__module__ != "glob" and paths.looks_like_data(text)
            folder = _folder_of(text)
            # A folder that is there, and not made by the job, has what it has.
            real = os.path.isdir(folder) and not self._written(folder)
            away = remote or ((paths.is_hosted(text) or of_data) and not real)
            names += known or (self.names(text) if away else [])
        return names

    def _below(self, path: str, ending: str = ".jpg") -> list[str]:
        """What a folder holds, without the folder."""
        pattern = f"{path.rstrip('/')}/*{ending_asked() or ending}"
        return [os.path.basename(name) for name in self.names(pattern)]

    def _walked(self, path: str, *_: object, **__: object) -> Any:
        names, none = self._below(path), list[str]()
        inner = [(os.path.join(path, label), none, names) for label in CLASSES]
        return iter([(path, list(CLASSES), none), *inner])

    def _exists(self, path: str, *_: object) -> bool:
        """Data that the script asks for is there; what it or a library writes is not, before."""
        there = paths.looks_like_data(path) and by_user()
        if there:
            self._ledger.note(path)
        return there

    def _said(self, what: str, made: Callable[[Kwargs], object] = lambda _: Hole()) -> Call:
        """Gives what a call's options ask for, and says what it is."""

        def give(path: str, *_: object, **options: object) -> object:
            self._ledger.note(f"{path} ({what})")
            return made(options)

        return give
