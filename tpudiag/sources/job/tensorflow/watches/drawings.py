"""Drawings of models, for which Graphviz may not be there: without one a job trains as well."""

from functools import partial

from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.process.protocol import Recorder


def watch(keras: Library, recorder: Recorder) -> None:
    """Go on without a drawing that fails here, and tell it."""
    hooks.around(table.MODEL_DRAWN, partial(drawn, recorder), keras)


def drawn(recorder: Recorder, original: Call, *args: object, **kwargs: object) -> object:
    """A drawing of a model, or none."""
    try:
        return original(*args, **kwargs)
    except (ImportError, AttributeError, OSError) as error:  # Graphviz, or another pydot
        said = f"{user_lines.caller()} ({type(error).__name__}: {str(error).splitlines()[0]})"
        recorder.put(not_drawn=(said,))
        return None
