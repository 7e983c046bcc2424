"""Where hooks are put on libraries, the barrier around them, and the user's line behind a call.

Every other room uses this one; it uses none.
"""

from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

Call: TypeAlias = Callable[..., object]
"""A function of a library's, whose result goes on as it is."""
Args: TypeAlias = tuple[object, ...]
Kwargs: TypeAlias = dict[str, object]
"""What a call of the job's was given, by place and by name."""
Library: TypeAlias = ModuleType
"""TensorFlow, Keras or another: its names are looked up in the release that the job has."""
Watches: TypeAlias = dict[str, Callable[[Library], None]]
"""What is to be told of the import of which module."""
