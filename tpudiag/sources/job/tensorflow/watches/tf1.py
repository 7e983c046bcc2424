"""Watches uses of TensorFlow 1 APIs while the job runs."""

from collections.abc import Callable

from tpudiag.signals import Tf1Use
from tpudiag.sources.job.points import hooks, privates, table, user_lines


class Tf1Watch:
    """Hooks tf.compat.v1's sessions, placeholders and switches."""

    def __init__(self) -> None:
        self._uses: dict[str, Tf1Use] = {}
        for each in (*table.TF1_SWITCHES.each(), *table.TF1_SESSIONS.each()):
            hooks.before(each, self._note(each.name.removesuffix(".__init__")))

    def facts(self) -> tuple[Tf1Use, ...]:
        """Uses by user code so far, each API once."""
        return tuple(self._uses.values())

    def _note(self, api: str) -> Callable[..., None]:
        def note(*_: object, **__: object) -> None:
            # Only from the user's own line: TensorFlow and Keras use these APIs internally.
            location = user_lines.direct_caller()
            if location is not None:
                self._uses.setdefault(api, Tf1Use(api, location))

        return note


def tf2_enabled() -> bool | None:
    """TensorFlow's own switch for v2 behaviour; None where it moved."""
    enabled = privates.TF2_ENABLED.get()
    return bool(enabled()) if enabled is not None else None
