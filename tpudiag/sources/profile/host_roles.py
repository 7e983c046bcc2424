"""The meaning of a host's events, by their names."""

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache


class Role(IntEnum):
    """The meaning of an event; the patterns are matched in this order."""

    OTHER = 0
    GET_NEXT = 1
    KERNEL = 2
    ITERATOR = 3
    COMPILE = 4
    TO_DEVICE = 5
    COLLECTIVE = 6
    MEMORY = 7
    CALLBACK = 8
    EAGER = 9
    SPAN = 10
    ASK = 11
    """The whole call of an eager IteratorGetNext, with its overhead."""
    PYTHON = 12
    """A CALLBACK of the input pipeline, known by its thread."""
    JIT = 13


PATTERNS: tuple[tuple[Role, re.Pattern[str]], ...] = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        (Role.GET_NEXT, r"IteratorGetNext\w*Op::DoCompute"),
        (Role.ASK, r"EagerLocalExecute: IteratorGetNext\w*"),
        (Role.KERNEL, r"ExecutorState::Process"),
        (Role.ITERATOR, r"Iterator::.*"),
        (
            Role.COMPILE,
            r"tf\.function-graph_building|XlaCompile\w*.*|TpuCompile\w*.*|\w*CompilationCache.*"
            r"|.*(?<![a-z])(Compile|CompileAndLoad|RunBackend|BuildExecutable)(Op|Impl)?(::.*)?"
            r"|XLA::TPU code generation|\w+Client::Compile\w*",
        ),
        (
            Role.TO_DEVICE,
            r"tpu::System::TransferToDevice(=>IssueEvent=>Done)?|.*:InfeedEnqueue\w*|MEMCPYHToD.*"
            r"|.*TransferLiteralToInfeed.*|BufferFromHost\w*",
        ),
        (Role.COLLECTIVE, r".*:(Collective|NcclAllReduce|CrossReplicaSum|AllReduce)\w*"),
        (Role.MEMORY, r"Memory(Alloc|Dealloc)ation"),
        (
            Role.CALLBACK,
            r".*:(EagerPyFunc|PyFunc|PyFuncStateless|PrintV2|Print|XlaHostCompute|"
            r"_XlaSendFromHost\w*|_XlaRecvAtHost\w*)",
        ),
        (Role.JIT, r"PjitFunction\(.+\)"),
        # A tf.function is called through such an op, too, but does not run eagerly.
        (Role.EAGER, r"EagerLocalExecute: (?!_*inference_|_*forward_|_*backward_).*"),
    )
)
KEPT = tuple(role for role in Role if role not in (Role.OTHER, Role.MEMORY, Role.PYTHON))


NAMES = 1 << 14
"""Names whose role is cached."""
DRIVES = re.compile(
    r"tpu::System::(Execute|TransferToDevice|TransferFromDevice).*|\w*Tpu(Loaded)?Executable::Execute.*"
    r"|(.*:)?TPUExecute\w*|TpuExecute.*"
)
"""Events of a host that runs programs on a TPU; compiling for one is no sign of it."""


def drives_tpu(names: Iterable[str]) -> bool:
    """Whether events of these names show a host that runs programs on a TPU."""
    return any(DRIVES.fullmatch(name) for name in names)


@lru_cache(NAMES)
def role_of(name: str, span: str | None) -> Role:
    """The role of events of a name; the hosts of a run have most names in common."""
    # The name that the user gave takes precedence.
    if name == span:
        return Role.SPAN
    return next((role for role, pattern in PATTERNS if pattern.fullmatch(name)), Role.OTHER)
