"""The API's messages as JSON, and where two differ."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tpudiag.monitoring.cloud.policies import Json

OF_THE_SERVICE = {"creationRecord", "mutationRecord", "etag"}
"""Fields that the service sets itself."""
DEFAULTS: tuple[Any, ...] = (None, "", "0s", False, 0, [], {})
"""What a service may leave out."""


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Each field that differs, as `field: before -> after`."""
    if before in DEFAULTS and after in DEFAULTS:
        return
    kinds: set[object] = {type(before), type(after)}
    if kinds == {dict}:
        for key in sorted({*before, *after} - OF_THE_SERVICE):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}".strip("."))
    elif kinds == {list} and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from differences(one, other, path)
    elif before != after:
        yield f"{path}: {json.dumps(before)} -> {json.dumps(after)}"


@dataclass(frozen=True)
class MessageKind:
    """A message of a Google client, which is imported when it is needed."""

    module: str
    name: str

    def message(self, made: Json) -> Any:
        """The API's message; a field that this version of the client lacks is left out."""
        return self._kind.from_json(json.dumps(made), ignore_unknown_fields=True)

    def json(self, message: Any) -> Json:
        """A message as JSON, without what is not set."""
        from google.protobuf import json_format

        return json_format.MessageToDict(self._kind.pb(message))

    @property
    def _kind(self) -> Any:
        return getattr(import_module(self.module), self.name)
