"""The facts that a job sent, as the typed Signals that checks read: the tool's side alone."""

from __future__ import annotations

import msgspec

from tpudiag.signals import Origin, Signals


def signals(origin: Origin, facts: dict[str, object]) -> Signals:
    """The Signals of the facts received so far; facts of no field (progress) are left out."""
    known = {key: value for key, value in facts.items() if key in Signals.__dataclass_fields__}
    return msgspec.convert({"origin": origin.value, **known}, Signals, strict=False)
