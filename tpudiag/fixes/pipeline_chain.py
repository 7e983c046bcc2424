"""The transformations of a tf.data pipeline in the script, followed through assignments."""

import libcst as cst

from tpudiag.fixes.arguments import chained
from tpudiag.fixes.edits import Edit, NoChange, called
from tpudiag.fixes.names import assigned, bound, dotted
from tpudiag.fixes.source import Source

METHODS = frozenset(
    ("apply", "batch", "bucket_by_sequence_length", "cache", "concatenate", "enumerate", "filter",
     "flat_map", "interleave", "map", "options", "padded_batch", "prefetch", "ragged_batch",
     "rebatch", "repeat", "shard", "shuffle", "skip", "take", "unbatch", "window", "with_options",
     "zip")
)  # fmt: skip
SOURCES = frozenset(
    ("from_tensor_slices", "from_tensors", "from_generator", "range", "list_files",
     "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "CsvDataset",
     "make_csv_dataset")
)  # fmt: skip
_DISTRIBUTE = "experimental_distribute_dataset"
MOST = 60


def links(source: Source, last: cst.BaseExpression) -> list[cst.Call]:
    """The calls that made a dataset, source first, as far as plain assignments can be followed."""
    calls: list[cst.Call] = []
    node: cst.BaseExpression | None = last
    at: cst.CSTNode = last
    while node is not None and len(calls) < MOST:
        if isinstance(node, cst.Call) and called(node) in (_DISTRIBUTE, "iter") and node.args:
            node = node.args[0].value
        elif isinstance(node, cst.Call):
            calls.append(node)
            method = isinstance(node.func, cst.Attribute) and called(node) in METHODS
            node = node.func.value if method and isinstance(node.func, cst.Attribute) else None
        elif (name := dotted(node)) and (made := assigned(source, name, at)) is not None:
            node = at = made.value
        else:
            node = None
    return calls[::-1]


def chain_end(source: Source, call: cst.Call) -> cst.Call:
    """The last call of a call's chain."""
    while True:
        link = source.parent(call)
        above = source.parent(link) if isinstance(link, cst.Attribute) else None
        if not isinstance(above, cst.Call) or called(above) not in METHODS:
            return call
        call = above


def statement_of_link(source: Source, call: cst.Call) -> cst.SimpleStatementLine | None:
    """The statement `name = name.link(...)` consisting of a call, None where it is more."""
    assign = source.parent(call)
    line = source.parent(assign) if isinstance(assign, cst.Assign) else None
    if not isinstance(assign, cst.Assign) or not isinstance(line, cst.SimpleStatementLine):
        return None
    if not isinstance(call.func, cst.Attribute) or len(line.body) != 1 or len(assign.targets) != 1:
        return None
    name = dotted(call.func.value)
    return line if name and dotted(assign.targets[0].target) == name else None


def put_before(source: Source, call: cst.Call, link: str) -> Edit:
    """Insert a link before another, as a statement of its own where the other is one."""
    line = statement_of_link(source, call)
    if not isinstance(call.func, cst.Attribute):
        raise NoChange("the pipeline is not a chain of calls there")
    if line is not None:
        name = dotted(call.func.value)
        return source.before(line, f"{name} = {name}{link}")
    edit = chained(source, call.func.value, link)
    # The chain's line breaks are before its dots: without them the new link would end a line.
    if edit.text == link and source.text[edit.start : source.span(call.func.attr)[0]].strip(" .\t"):
        lead = source.text[edit.start : source.span(call.func.attr)[0]].rpartition(".")[0]
        return Edit(edit.start, edit.end, lead + link) if "#" not in lead else edit
    return edit


def put_after(source: Source, call: cst.Call, link: str) -> Edit:
    """Insert a link after another, as a statement of its own where the other is one."""
    line = statement_of_link(source, call)
    if line is not None and isinstance(call.func, cst.Attribute):
        name = dotted(call.func.value)
        return source.after(line, f"{name} = {name}{link}")
    return chained(source, call, link)


def taken_out(source: Source, call: cst.Call) -> Edit:
    """Remove a link from the pipeline."""
    line = statement_of_link(source, call)
    if line is not None:
        return source.removed(line)
    if not isinstance(call.func, cst.Attribute):
        raise NoChange("it is no call in a chain")
    # With the line break before it.
    return Edit(source.whole(call.func.value)[1], source.span(call)[1], "")


def link_text(source: Source, call: cst.Call) -> str:
    """The text `.name(...)` of a link."""
    first = source.span(call.func.attr)[0] if isinstance(call.func, cst.Attribute) else 0
    return "." + source.text[first : source.span(call)[1]]


def is_random(source: Source, call: cst.Call) -> bool:
    """Whether a link differs in each pass: a shuffle, or a function with random draws."""
    if called(call) == "shuffle":
        return True
    if called(call) not in ("map", "interleave", "flat_map") or not call.args:
        return False
    function = call.args[0].value
    texts = [source.code(function)]
    # A function of the file is examined, too, but not those that it calls.
    if isinstance(function, cst.Name):
        texts += [source.code(each) for each in source.functions(function.value)]
    return any("random" in text for text in texts)


def fresh_name(source: Source, *names: str) -> str:
    """The first candidate name that the script does not use."""
    used = {node.value for node in source.all(cst.Name)}
    for name in names:
        if name not in used:
            return name
    return next(f"{names[0]}_{n}" for n in range(2, 100) if f"{names[0]}_{n}" not in used)


def constant_of(source: Source, node: cst.BaseExpression, at: cst.CSTNode) -> cst.BaseExpression:
    """The expression of a name that is assigned once; anything else unchanged."""
    name = dotted(node)
    if not name or "." in name:
        return node
    scopes = [scope for scope in (source.function(at), source.module) if scope is not None]
    for scope in scopes:
        times = len(list(bound(source, scope, name)))
        if times == 1 and (made := assigned(source, name, at)) is not None:
            return made.value
        if times:
            raise NoChange(f"{name} is set in several places")
    return node
