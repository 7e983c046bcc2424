"""The bytes that an instruction moves through HBM: slices and updates in place count alone."""

from collections.abc import Sequence

from tpudiag.bounded_numbers import whole
from tpudiag.prediction.arrays import Array
from tpudiag.prediction.module import Instruction, Module

_SLICES = frozenset(("slice", "dynamic-slice", "gather"))
_ALIASES = frozenset(("bitcast", "reshape", "get-tuple-element", "convert"))
_Users = dict[str, list[Instruction]]


def traffic(
    module: Module, line: Instruction, inner: Sequence[Instruction], made: dict[str, Instruction]
) -> tuple[int, int]:
    """Bytes that one run reads from and writes to HBM, and those of them in parts of tiles."""
    if inner:
        return _fusion_traffic(module, line, inner, made)
    written = sum(array.hbm_bytes for array in line.results)
    if line.opcode == "dynamic-update-slice" and len(line.operands) > 1:
        return _updated(line, made)
    if line.opcode in _SLICES:
        # A slice reads as much as it writes: not the array that it is cut from.
        return 2 * written, 0
    # An operand that is named twice is read once.
    once = dict.fromkeys(line.operands)
    read = sum(a.hbm_bytes for name in once if name in made for a in made[name].results)
    return written + read, 0


def _updated(line: Instruction, made: dict[str, Instruction]) -> tuple[int, int]:
    """An update in place: the part alone, read and written; in parts of tiles where it cuts them.

    A part that is thinner than a tile is written one row of each tile at a time.
    """
    part = made.get(line.operands[1])
    if part is None or not part.results or not line.results:
        return 0, 0
    whole, update = line.results[0], part.results[0]
    if not whole.in_hbm:
        return update.hbm_bytes, 0
    size = update.bytes
    cut = any(
        update.dims[place] % length and update.dims[place] != whole.dims[place]
        for place, length in zip(whole.places, reversed(whole.tile), strict=False)
        if length and place < len(update.dims)
    )
    return size + update.hbm_bytes, size if cut else 0


def _fusion_traffic(
    module: Module, line: Instruction, inner: Sequence[Instruction], made: dict[str, Instruction]
) -> tuple[int, int]:
    """Of a fusion: slices of an operand count alone, and so do updates of one in place."""
    own = {each.name: each for each in inner}
    users = _users(inner, own)
    parameters = [each for each in inner if each.opcode == "parameter"]
    read = 0
    for parameter in parameters:
        number = whole(parameter.rest.partition(")")[0])
        given_by = None if number is None else line.operands[number : number + 1]
        outer = given_by[0] if given_by else ""
        given = made[outer].results if outer in made else parameter.results
        # A tuple is no array: those who take a part of it are counted by the part.
        if len(given) == 1:
            read += _read(module, parameter, given[0], users, own)
    written, strided = _written(line, inner, own)
    return read + written, strided


def _users(inner: Sequence[Instruction], own: dict[str, Instruction]) -> _Users:
    """Who reads each instruction's result; what only renames it is looked through."""
    users: _Users = {}
    for each in inner:
        if each.opcode not in _ALIASES or each.root:
            for name in set(each.operands):
                users.setdefault(_origin(name, own), []).append(each)
    return users


def _read(
    module: Module, parameter: Instruction, given: Array, users: _Users, own: dict[str, Instruction]
) -> int:
    if not given.in_hbm:
        return 0
    total = 0
    for user in users.get(parameter.name, ()):
        if user.opcode == "fusion":
            total += _read_inside(module, user, parameter.name, given, own)
            continue
        first = _origin(user.operands[0], own) == parameter.name if user.operands else False
        # As the first operand it is what is cut; as a later one it is an index, of a few bytes, and
        # read whole.
        if user.opcode in _SLICES and first:
            # Inside a fusion a part lies in no memory of its own.
            total += sum(max(array.padded_bytes, array.bytes) for array in user.results)
        elif not (user.opcode == "dynamic-update-slice" and first):
            return given.padded_bytes
    # Overlapping slices are served from the same tiles; more than all of it is not read.
    return min(total, given.padded_bytes)


def _read_inside(
    module: Module, fusion: Instruction, name: str, given: Array, own: dict[str, Instruction]
) -> int:
    """What a fusion within a fusion reads of an operand of both."""
    inner = module.instructions(fusion.called("calls"))
    made = {each.name: each for each in inner}
    users = _users(inner, made)
    places = {number for number, each in enumerate(fusion.operands) if _origin(each, own) == name}
    total = 0
    for each in inner:
        if each.opcode == "parameter" and whole(each.rest.partition(")")[0]) in places:
            total += _read(module, each, given, users, made)
    return total


def _origin(name: str, own: dict[str, Instruction]) -> str:
    """What an instruction's name stands for, renaming looked through."""
    while name in own and own[name].opcode in _ALIASES and own[name].operands:
        name = own[name].operands[0]
    return name


def _written(
    line: Instruction, inner: Sequence[Instruction], own: dict[str, Instruction]
) -> tuple[int, int]:
    """What a fusion writes, and what of it in parts of tiles."""
    root = next((each for each in inner if each.root), None)
    if root is None:
        return sum(array.hbm_bytes for array in line.results), 0
    names = root.operands if root.opcode == "tuple" else (root.name,)
    written = strided = 0
    for array, name in zip(line.results, names, strict=False):
        if not array.in_hbm:
            continue
        last = own.get(_origin(name, own))
        if last is not None and last.opcode == "dynamic-update-slice" and len(last.operands) > 1:
            size, cut = _updated(last, own)
            # _updated counts reading and writing; the fusion's reads are counted by its operands.
            written, strided = written + (cut or size - size // 2), strided + cut
        else:
            written += array.padded_bytes
    return written, strided
