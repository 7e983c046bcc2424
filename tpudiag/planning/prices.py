"""The user's prices of a chip-hour."""

import json
import math
import tomllib
from pathlib import Path

import msgspec

from tpudiag import hardware
from tpudiag.bounded_files import read_text
from tpudiag.errors import UnreadableInput, UsageError, line_of


class _File(msgspec.Struct):
    """`chip_hour` by generation."""

    chip_hour: dict[str, float]


def load(path: Path) -> dict[str, float]:
    """The price of a chip-hour by generation, from TOML or JSON."""
    try:
        text = read_text(path)
        raw: object = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        prices = msgspec.convert(raw, _File).chip_hour
    except OSError as error:
        raise UnreadableInput(f"--cost {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        reason = line_of(error)
        raise UnreadableInput(f"--cost {path}: {reason}; write [chip_hour] v5e = 1.20") from error
    known = {alias: g.name for g in hardware.GENERATIONS for alias in g.aliases}
    for name, price in prices.items():
        if name not in known:
            names = ", ".join(g.name for g in hardware.GENERATIONS)
            raise UsageError(f"--cost {path}: {name} is no TPU generation ({names})")
        if not 0 < price < math.inf:
            raise UsageError(f"--cost {path}: the price of {name} must be above 0")
    return {known[name]: price for name, price in prices.items()}
