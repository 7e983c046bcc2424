"""The facts that a job sent, as the typed Signals that checks read: the tool's side alone."""

from dataclasses import replace

import msgspec

from tpudiag.signals import HookDefect, Origin, Signals


def signals(origin: Origin, facts: dict[str, object]) -> Signals:
    """The Signals of the facts received so far; facts of no field (progress) are left out.

    A fact that is not of its field's type is a defect of ours: it is left out, and said.
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
    """The facts that are what they should be, and what is wrong with the others."""
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
