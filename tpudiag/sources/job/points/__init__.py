"""Where hooks are put on libraries, the barrier around them, and the user's line behind a call.

Every other package uses this one; it uses none.
"""

from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

Call: TypeAlias = Callable[..., object]
"""A library's function, whose result is passed on unchanged."""
Args: TypeAlias = tuple[object, ...]
Kwargs: TypeAlias = dict[str, object]
"""The keyword arguments of a call by the job."""
Library: TypeAlias = ModuleType
"""TensorFlow, Keras or another, in the job's release."""
Watches: TypeAlias = dict[str, Callable[[Library], None]]
"""The hooks by the module whose import triggers them."""
