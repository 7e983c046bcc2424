"""Watches Keras layers: who made them, at which line, and with which dtype policy."""

import re
import sys
import weakref
from functools import partial
from itertools import product

from tpudiag.model import Location
from tpudiag.signals import WideLayer
from tpudiag.sources.job.points import Library, hooks, script_text, table, user_lines

_DTYPE = re.compile(r"\bdtype\s*=\s*([\w.]+(?:\([^()]*\))?|[\"']\w+[\"'])")
_MOST_WIDE = 200
_DEEPEST = 4
"""The most parts of a layer's own name."""


class LayerWatch:
    """Hooks Layer.__init__ and the calls that set the global dtype policy."""

    def __init__(self) -> None:
        self.policies: dict[str, Location | None] = {}
        """Policies of the layers made so far, each with its line."""
        self._made_at: dict[str, set[Location]] = {}
        self._makers: dict[int, tuple[weakref.ref[object], Location]] = {}
        """By a layer's id, which may be reused after it is gone."""
        self._set_at: dict[str, Location] = {}
        self._sixteen_at: tuple[str, Location] | None = None
        """The 16-bit policy that the user's code made last."""
        self.global_policy: str | None = None
        self.made_before: Location | None = None
        self.wide: list[WideLayer] = []

    def watch(self, keras: Library) -> None:
        """Install the hooks on a Keras package."""
        # Of several packages each has a policy, a model and layers of its own.
        hooks.after(table.LAYER_MADE, partial(self._note_layer, keras), keras)
        hooks.before(table.POLICY_SET, self._note_policy, keras)
        hooks.after(table.POLICY_MADE, self._note_made, keras)

    def line_of(self, name: str) -> Location | None:
        """The line that made the library layer of a variable or operation.

        None where several lines made layers of that name: two models may have the same.
        """
        scopes = name.split("/")[:-1]
        # Innermost first; in Keras 2 a layer's own name may have slashes.
        for end, count in product(range(len(scopes), 0, -1), range(1, _DEEPEST + 1)):
            scope = "/".join(scopes[max(0, end - count) : end])
            # Keras 3 enters a scope more than once: `dense_1` may be the second scope of the layer
            # `dense`.
            for layer in (scope, re.sub(r"_\d+$", "", scope)):
                if lines := self._made_at.get(layer):
                    return next(iter(lines)) if len(lines) == 1 else None
        return None

    def made_at(self, layer: object) -> Location | None:
        """The line that made this layer; None for one of the user's own classes."""
        known, line = self._makers.get(id(layer), (None, None))
        return line if known is not None and known() is layer else None

    def policy_line(self) -> Location | None:
        """The line that set the global policy in force."""
        return self._set_at.get(str(self.global_policy))

    def unused_policy(self) -> Location | None:
        """The line that made a 16-bit policy that neither layers have nor is set."""
        name, line = self._sixteen_at or ("", None)
        return None if name in self.policies or name in self._set_at else line

    def _note_made(self, policy: object, *_: object, **__: object) -> None:
        """A policy was made; those of names are made by the library."""
        line, name = user_lines.direct_caller(), str(getattr(policy, "name", ""))
        if line is not None and name.endswith("float16"):
            self._sixteen_at = name, line

    def _note_policy(self, policy: object, *_: object, **__: object) -> None:
        where, name = user_lines.caller(), str(getattr(policy, "name", policy))
        setter = user_lines.frame_above(("<string>",))  # of the hook
        # Keras 3 sets its default one itself, at whichever line makes the first layer.
        module = str(setter.f_globals.get("__name__")) if setter is not None else ""
        if where is not None and not module.startswith(("keras.", "tf_keras.")):
            self._set_at[name] = where
            self.global_policy = name

    def _note_layer(self, keras: Library, layer: object, *_: object, **__: object) -> None:
        if type(layer).__name__ == "InputLayer":
            return  # it computes nothing
        where = user_lines.caller()
        name = getattr(layer, "name", None)
        of_library = type(layer).__module__.partition(".")[0] in ("keras", "tf_keras")
        library = of_library and not isinstance(layer, keras.Model)
        if where is not None and library and isinstance(name, str):
            self._made_at.setdefault(name, set()).add(where)
        maker = user_lines.maker()
        if maker is not None and not _users_own(layer):
            self._makers[id(layer)] = weakref.ref(layer), maker
        policy = getattr(getattr(layer, "dtype_policy", None), "name", None)
        if isinstance(policy, str):
            self.policies.setdefault(policy, self._set_at.get(policy) or where)
            self._note_wide(keras, layer, policy)

    def _note_wide(self, keras: Library, layer: object, policy: str) -> None:
        """Record a layer set to float32 by its own argument."""
        config, mixed = getattr(keras, "config", None), getattr(keras, "mixed_precision", None)
        in_force = getattr(config, "dtype_policy", getattr(mixed, "global_policy", None))
        metric = getattr(getattr(keras, "metrics", None), "Metric", None)  # a layer, in Keras 2
        if in_force is None or (metric is not None and isinstance(layer, metric)):
            return
        self.global_policy = str(getattr(in_force(), "name", None))
        if policy == "float32" and not self.global_policy.endswith("float16"):
            self.made_before = self.made_before or user_lines.outside_keras()
        elif policy == "float32" and len(self.wide) < _MOST_WIDE:
            place = user_lines.outside_keras()
            if place is not None:
                found = _DTYPE.search(script_text.call_at(place))
                given = found[1] if found is not None else ""
                name = str(getattr(layer, "name", ""))
                self.wide.append(WideLayer(name=name, location=place, dtype_given=given))


def _users_own(layer: object) -> bool:
    """Whether a layer's class is defined in user code, where its operations have lines."""
    file = getattr(sys.modules.get(type(layer).__module__), "__file__", None)
    return file is None or user_lines.is_user_file(file)
