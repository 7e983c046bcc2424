"""The activity of an operation that does not compute, from its category, name and opcode.

The category alone misleads: on v4 and v5p an asynchronous collective is a "custom fusion" named
`async-collective-start.3`, and only the memory space in its layout distinguishes a wait for host
memory from any other `copy-done`. Seen in XProf's figures of a v5p run and in a v6e trace.
"""

import re

from tpudiag.signals.profile import UNTOLD

COLLECTIVES, INFEED, OUTPUT, HOST_MEMORY = "collectives", "infeed", "output", "host memory"
_COLLECTIVE = re.compile(
    r"(async[-_]collective|all[-_]reduce|all[-_]gather|reduce[-_]scatter|(ragged[-_])?all[-_]to[-_]all"
    r"|collective[-_](permute|broadcast)|cross[-_]replica[-_]sum|megascale).*"
)
_CALLS_COLLECTIVE = re.compile(rf"kind=kCustom, calls=%({_COLLECTIVE.pattern})")
"""A nameless fusion of a computation that is named after a collective."""
_EXCHANGE = re.compile(r"(send|recv)(-done)?")
_HOST_EXCHANGE = re.compile(r"outfeed.*|host (send|recv)(-done)?")
_COMPUTES = re.compile(r"(?!custom ).* fusion|convolution.*|.*elementwise|while|conditional|call")
"""Categories that compute, whatever their operations are named."""
_OPCODE = re.compile(r"(?<=[\])}] )([a-z][a-z0-9-]*)\(")
_HOST_SPACE = re.compile(r":[^}]*S\(5\)")
"""A layout in memory space 5, which is the host's."""
_MOVES = re.compile(r"(async|copy|slice|dynamic-slice|dynamic-update-slice)(-(start|done))?")
_WAITS_FOR_COPY = re.compile(r"(copy|(dynamic-)?(update-)?slice)-done(\.\d+)*")


def opcode(text: str) -> str:
    """`copy-done` of `%copy-done.4 = f32[8]{0} copy-done(...)`; empty where the text has none."""
    match = _OPCODE.search(text, max(text.find(" = "), 0))
    return match[1] if match else ""


def part_of(name: str, category: str, text: str) -> str | None:
    """The part of the step to which an operation's own time belongs; None where it computes.

    UNTOLD where the profile does not show it.
    """
    code = opcode(text)
    if category.startswith("infeed") or code == "infeed":
        return INFEED
    if _HOST_EXCHANGE.fullmatch(category) or code == "outfeed":
        return OUTPUT
    if _EXCHANGE.fullmatch(category) or _EXCHANGE.fullmatch(code):
        return OUTPUT if "is_host_transfer=true" in text else COLLECTIVES
    if _COLLECTIVE.fullmatch(category) or _COLLECTIVE.fullmatch(code):
        return COLLECTIVES
    if _COMPUTES.fullmatch(category):
        return None
    if _COLLECTIVE.fullmatch(name) or _CALLS_COLLECTIVE.search(text):
        return COLLECTIVES
    moves = _MOVES.fullmatch(code) or _MOVES.fullmatch(category)
    if moves and _HOST_SPACE.search(text):
        return HOST_MEMORY
    # Without the layouts in its HLO text the memory that such a copy moves from is unknown.
    waits = _WAITS_FOR_COPY.fullmatch(category) or _WAITS_FOR_COPY.fullmatch(name)
    return UNTOLD if waits and "{" not in text else None
