"""What two shapes mean by the operation in which they meet."""

from .meaning import Reading
from .narrower import computed
from .shape_pairs import Shape, text_of

_ADDING = ("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
_BY_ELEMENT = (
    *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "truediv", "FloorDiv", "Maximum", "Minimum"),
    *("SquaredDifference", "GreaterEqual", "Greater", "Less", "Equal", "Pow", "DivNoNan"),
)
_COMPARING = ("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual")
_JOINING = ("Concat", "ConcatV2", "ConcatOp", "Pack")


def of_use(left: Shape, right: Shape, operation: str, node: str) -> Reading | None:
    """What two shapes mean where their operation tells it; None where it does not."""
    name = node.rsplit("/", 1)[-1].rstrip("_0123456789")
    if operation in _ADDING or name in _ADDING:
        return _added(left, right)
    if operation in _JOINING and 2 <= len(left) == len(right) <= 3:
        return _joined(left, right)
    short, long = sorted((left, right), key=len)
    if (operation or name) in _COMPARING and len(short) == len(long) == 1:
        return computed(
            "values compared", operation=operation or name, left=text_of(left), right=text_of(right)
        )
    if operation in _BY_ELEMENT or name.lower() in {each.lower() for each in _BY_ELEMENT}:
        return _by_element(short, long)
    return None


def of_rows(labels: int, rows: int, width: int) -> Reading | None:
    """Class numbers and rows of outputs that are not equally many (sparse cross-entropy)."""
    if labels == rows * width and width > 1:
        return None
    said = f"{labels:,} labels meet {rows:,} rows of {width} outputs"
    if labels > rows and labels % rows == 0:
        return computed("labels for each row", said=said, times=labels // rows)
    return computed("rows and labels", said=said)


def of_another_output(labels: int, rows: int, width: int) -> Reading:
    """Labels beside an output that they do not belong to."""
    return computed("another output", labels=f"{labels:,}", rows=f"{rows:,}", width=width)


def _joined(left: Shape, right: Shape) -> Reading | None:
    """Parts that are joined along their first axis, or along the last one."""
    differing = [at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if differing in ([], [0]):
        return None
    return computed("joined", left=text_of(left), right=text_of(right))


def _added(left: Shape, right: Shape) -> Reading:
    """A running value, of a metric or a normalisation, and what is added to it."""
    return computed("running value", left=text_of(left), right=text_of(right))


def _by_element(short: Shape, long: Shape) -> Reading | None:
    """One value for each example beside several: shapes are aligned at their last axes."""
    if len(short) != 1 or len(long) < 2 or short[0] != long[0] or short[0] in {None, 1}:
        return None
    ones = ", tf.newaxis" * (len(long) - 1)
    return computed(
        "value for each example",
        size=short[0],
        short=text_of(short),
        long=text_of(long),
        ones=ones,
        column=text_of((*short, *(1,) * (len(long) - 1))),
    )


def of_binary(left: Shape, right: Shape) -> Reading | None:
    """Shapes of different rank in a loss that wants one value of each for each value."""
    short, long = sorted((left, right), key=len)
    if len(long) - len(short) != 1 or not short or len(long) < 3 or long[len(long) - 1] == 1:
        return None
    return computed(
        "binary loss", most=len(long), long=text_of(long), least=len(short), short=text_of(short)
    )
