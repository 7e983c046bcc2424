"""Converts the facts sent by a job to the typed Signals that checks read, on the tool's side."""

from dataclasses import replace

import msgspec

from tpudiag.signals import HookDefect, Origin, Signals


def signals(origin: Origin, facts: dict[str, object]) -> Signals:
    """The Signals of the facts so far; facts without a field (progress) are ignored.

    A fact of a wrong type is a defect of ours: it is skipped, and reported.
    """
    known = {key: value for key, value in facts.items() if key in Signals.__dataclass_fields__}
    try:
        return _signals(origin, known)
    except msgspec.ValidationError:
        sound, defects = _sound(origin, known)
        complete = _signals(origin, sound)
        return replace(complete, hook_defects=(*complete.hook_defects, *defects))


def _sound(
    origin: Origin, facts: dict[str, object]
) -> tuple[dict[str, object], tuple[HookDefect, ...]]:
    """The valid facts, and what is wrong with the others."""
    sound: dict[str, object] = {}
    defects: list[HookDefect] = []
    for name, fact in facts.items():
        try:
            _signals(origin, {name: fact})
            sound[name] = fact
        except msgspec.ValidationError as error:
            defects.append(HookDefect(f"fact {name}", str(error), ""))
    return sound, tuple(defects)


def _signals(origin: Origin, facts: dict[str, object]) -> Signals:
    """Facts of the fields' own types as Signals."""
    return msgspec.convert({"origin": origin.value, **facts}, Signals, strict=False)
