"""Files: tf.io.gfile, tf.io.read_file and the datasets of files."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from tpudiag.sources.job.points import Call, Library, barrier, hooks, table
from tpudiag.sources.job.points.library_objects import Dataset

from . import batch_sizes, paths, text_files
from .holes import Hole
from .ledger import FILES, MARKER, Ledger

_AWAY = f"{paths.REMOTE}|{MARKER}.*"
"""Names that reach nothing: of a remote file, or read from a stand-in."""


class Files:
    """Answers for files that cannot be reached; `written` tells what the job wrote itself."""

    def __init__(self, tf: Library, ledger: Ledger, written: Callable[[object], bool]) -> None:
        self._tf, self._ledger, self._written = tf, ledger, written
        paths.ask_with(tf.io.gfile.exists)
        # `import tensorflow.compat.v2 as tf` has modules of its own for the same functions.
        for api in (tf, tf.compat.v2, tf.compat.v1):
            self._around_functions(api)
        hooks.around(table.GFILE_OPENED, self._opened)
        hooks.around(table.CHECKPOINT_RESTORED, self._restored)
        hooks.around(table.RECORDS_READ, self._of_files(self._records))
        hooks.around(table.LINES_READ, self._of_files(self._lines))
        hooks.around(table.FILES_LISTED, self._listed)

    def _around_functions(self, api: Library) -> None:
        """The functions of one of TensorFlow's interfaces."""
        is_folder = self._answer(lambda path: "." not in path.split("/")[-1])
        hooks.around(table.GFILE_MATCHED, self._glob, api)
        hooks.around(table.GFILE_EXISTS, self._answer(self._exists), api)
        hooks.around(table.GFILE_IS_FOLDER, is_folder, api)
        hooks.around(table.GFILE_LISTED, self._answer(self._listing), api)
        hooks.around(table.GFILE_COPIED, self._copied, api)
        hooks.around(table.FILE_READ, self._read, api)
        hooks.around(table.LATEST_CHECKPOINT, self._answer(lambda _: None), api)
        hooks.around(table.MODEL_LOADED, self._model_loaded, api)

    def _away(self, path: object) -> bool:
        """Whether a path of data cannot be reached, and the job did not write it."""
        return paths.is_absent(path) and not self._written(path)

    def _glob(
        self, original: Callable[..., list[str]], pattern: str | bytes | Iterable[str | bytes]
    ) -> list[str]:
        """Names for each pattern that reaches nothing."""
        patterns = [pattern] if isinstance(pattern, (str, bytes)) else pattern
        names: list[str] = []
        for text in filter(None, map(paths.text_of, patterns)):
            unread = paths.is_remote(text) and not self._written(text)
            known = [] if unread else original(text)
            away = paths.is_remote(text) or paths.is_hosted(text)
            if not known and (away or paths.looks_like_data(text)):
                records = self._ledger.expect(batch_sizes.examples())
                known = paths.matching(text, records)
                self._ledger.note(f"{text} ({len(known)} files of {records} records)")
            names += known
        return names

    def _listed(
        self, original: Call, file_pattern: object, *args: object, **kwargs: object
    ) -> object:
        """The dataset of names that match a pattern."""
        texts = _texts([file_pattern] if isinstance(file_pattern, str) else file_pattern) or []
        if not any(self._away(text) for text in texts):
            return original(file_pattern, *args, **kwargs)
        names = [name for text in texts for name in self._glob(self._tf.io.gfile.glob, text)]
        files = self._tf.data.Dataset.from_tensor_slices(names)
        shuffle = args[0] if args else kwargs.get("shuffle")
        return files if shuffle is False else files.shuffle(max(len(names), 1))

    def _exists(self, path: str) -> bool:
        """Data is there; a folder that the job writes to is not, before it did."""
        if paths.looks_like_data(path):
            self._ledger.note(path)
            return True
        return False

    def _listing(self, path: str) -> list[str]:
        """The names in a folder."""
        self._ledger.note(path)
        records = self._ledger.expect(batch_sizes.examples())
        return [f"file-{file:02d}-{records}.tfrec" for file in range(FILES)]

    def _answer(self, answer: Callable[[str], object]) -> Call:
        """A hook that answers for paths that are remote and were not written."""

        def call(original: Call, *args: object, **kwargs: object) -> object:
            path = args[0] if args else kwargs.get("path", kwargs.get("checkpoint_dir"))
            text = paths.text_of(path)
            if text is not None and paths.is_remote(text) and not self._written(text):
                return answer(text)
            return original(*args, **kwargs)

        return call

    def _opened(
        self, original: Call, file: object, name: object, mode: object = "r", **kw: object
    ) -> object:
        """A file is opened through TensorFlow, which would look for a bucket for a minute."""
        self._refuse(name, "+" in str(mode) or "r" not in str(mode))
        return original(file, name, mode, **kw)

    def _copied(self, original: Call, src: object, *args: object, **kwargs: object) -> object:
        """A file is copied to this machine's disk."""
        self._refuse(src)
        return original(src, *args, **kwargs)

    def _refuse(self, name: object, writes: bool = False) -> None:
        """Say that a file is not there, as the statement that reads it is passed over then."""
        if not writes and self._away(name):
            self._ledger.note(str(name))
            said = f"{name}; No such file or directory"
            raise barrier.for_job(self._tf.errors.NotFoundError(None, None, said))

    def _restored(
        self, original: Call, checkpoint: object, save_path: object, *a: object, **kw: object
    ) -> object:
        """A checkpoint is restored: of one that is away nothing is."""
        if paths.is_remote(save_path) and not self._written(save_path):
            self._ledger.note(f"{save_path} (variables stay as initialised)")
            return Hole()
        return original(checkpoint, save_path, *a, **kw)

    def _model_loaded(
        self, original: Call, export_dir: object, *args: object, **kwargs: object
    ) -> object:
        """A model is loaded: one that is away is a hole."""
        away = paths.is_remote(export_dir) or paths.is_hosted(export_dir)
        if away and not self._written(export_dir):
            self._ledger.note(f"{export_dir} (a model)")
            return Hole()
        return original(export_dir, *args, **kwargs)

    def _read(self, original: Call, filename: object, *args: object, **kwargs: object) -> object:
        """A file is read whole, mostly in a graph."""
        return original(
            self._reachable(filename, text_files.content(self._ledger)), *args, **kwargs
        )

    def _records(self, compression_type: str | None = None, *_: object, **__: object) -> str:
        """A file of records, packed as TFRecordDataset is told."""
        return text_files.records(self._tf, self._ledger, _compression(self._tf, compression_type))

    def _lines(self, compression_type: str | None = None, *_: object, **__: object) -> str:
        """A file of lines, packed as TextLineDataset is told."""
        return text_files.lines(self._ledger, _compression(self._tf, compression_type))

    def _of_files(self, stand_in: Callable[..., str]) -> Call:
        """Hands a dataset of files the stand-in for each that cannot be reached."""

        def call(
            original: Call, dataset: Dataset, filenames: object, *args: object, **kwargs: object
        ) -> object:
            file = stand_in(*args, **kwargs)
            return original(dataset, self._reachable(filenames, file), *args, **kwargs)

        return call

    def _reachable(self, names: Any, stand_in: str) -> object:
        """File names, each that cannot be reached replaced; the same object where none is."""
        tf = self._tf
        if isinstance(names, tf.data.Dataset):

            @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
            def chosen(name: object) -> object:
                return self._chosen(name, stand_in)

            # Not serial: this map is no line of the script's.
            return names.map(chosen, num_parallel_calls=tf.data.AUTOTUNE)
        known = _value(names)
        alone = paths.text_of(known)
        if alone is not None:
            if not self._away(alone):
                return names
            self._ledger.note(alone)
            return stand_in
        texts = _texts(known)
        if texts is None:
            return self._chosen(names, stand_in)
        away = [name for name in texts if self._away(name)]
        if not away:
            return names
        self._ledger.note(away[0] + (f" and {len(away) - 1} more" if len(away) > 1 else ""))
        return [stand_in if name in away else name for name in texts]

    def _chosen(self, names: Any, stand_in: str) -> object:
        """Names as tensors: the choice is made in the graph."""
        tf = self._tf
        names = tf.convert_to_tensor(names)
        if names.dtype != tf.string:
            return names
        self._ledger.choose_in_graph()
        away = tf.strings.regex_full_match(names, f"{_AWAY}|{paths.not_mounted()}")
        here = tf.strings.regex_full_match(names, paths.reachable())
        return tf.where(tf.logical_and(away, tf.logical_not(here)), stand_in, names)


def _texts(names: object) -> list[str] | None:
    """Names in a list or tuple; None for whatever else."""
    kept = cast("list[object]", names) if isinstance(names, (list, tuple)) else []
    texts = [paths.text_of(name) for name in kept]
    known = [text for text in texts if text is not None]
    return known if known and len(known) == len(kept) else None


def _value(names: Any) -> object:
    """What an array or tensor holds, as Python's own; anything else as it is."""
    names = names.numpy() if hasattr(names, "numpy") else names
    return names.tolist() if hasattr(names, "tolist") else names


def _compression(tf: Library, given: object) -> str:
    """A type of compression, however it is given."""
    return paths.text_of(tf.get_static_value(given) if tf.is_tensor(given) else given) or ""
