"""Changes of the step's model calls."""

from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.arguments import set_argument
from tpudiag.fixes.edits import Edit, NoChange, argument
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.source_change import Effect


@fix("TPU510", effect=Effect.NUMBERS, title="call the model as in training")
def training_mode(place: Place, source: Source) -> Iterator[Edit]:
    """`training=True` for the line's calls of models that the script trains."""
    trained = names.trained(source)
    statement = source.statement_at(place.line)
    calls = [
        call
        for call in source.inside(statement, cst.Call)
        if names.dotted(call.func) in trained and argument(call, "training") is None
    ]
    lines = [call for call in calls if source.name_line(call) == place.line]
    calls = lines or (calls if isinstance(statement, cst.SimpleStatementLine) else [])
    if not calls:
        raise NoChange("which of the line's calls is the model's, its names do not tell")
    yield from (set_argument(source, call, "training", "True") for call in calls)
