"""JSON of the API's messages: parts of it, and where two differ."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tpudiag.monitoring.cloud.policies import Json

OF_THE_SERVICE = ("creationRecord", "mutationRecord", "etag")
"""Fields that the service sets itself."""


def differences(before: object, after: object, path: str = "") -> Iterator[str]:
    """Each field that differs, as `field: before -> after`."""
    if _unset(before) and _unset(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        left, right = object_of(before), object_of(after)  # pyright: ignore[reportUnknownArgumentType]
        for key in sorted({*left, *right}):
            if key not in OF_THE_SERVICE:
                yield from differences(left.get(key), right.get(key), f"{path}.{key}".strip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):  # pyright: ignore[reportUnknownArgumentType]
        for one, other in zip(list_of(before), list_of(after), strict=True):  # pyright: ignore[reportUnknownArgumentType]
            yield from differences(one, other, path)
    elif before != after:
        yield f"{path}: {json.dumps(before)} -> {json.dumps(after)}"


def _unset(value: object) -> bool:
    """What a service may leave out, since it is the default."""
    return value in (None, "", "0s", False, 0, [], {})


def list_of(value: object) -> list[object]:
    """A JSON array, empty where it is none."""
    return list(value) if isinstance(value, list) else []  # pyright: ignore


def object_of(value: object) -> Json:
    """A JSON object, empty where it is none."""
    return dict(value) if isinstance(value, dict) else {}  # pyright: ignore


@dataclass(frozen=True)
class MessageKind:
    """A message of a Google client, which is an extra and is imported when it is needed."""

    module: str
    name: str

    def message(self, made: Json) -> Any:
        """The API's message; a field that this version of the client lacks is left out."""
        return self._kind.from_json(json.dumps(made), ignore_unknown_fields=True)

    def json(self, message: Any) -> Json:
        """A message as JSON, without what is not set."""
        json_format: Any = import_module("google.protobuf.json_format")
        fields: Json = json_format.MessageToDict(self._kind.pb(message))
        return fields

    @property
    def _kind(self) -> Any:
        return getattr(import_module(self.module), self.name)
