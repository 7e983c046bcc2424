# ruff: noqa: E501  (what is pasted stays in one piece)
"""Which release is too old or too new for a name that an error says is not there, and what fits."""

from __future__ import annotations

import re
from dataclasses import replace

from tpudiag.known_errors.model import Match
from tpudiag.known_errors.readings import names as moved
from tpudiag.known_errors.readings.meaning import Reading
from tpudiag.known_errors.readings.narrower import computed

from . import offered
from .given import NOT_TOLD, Here, here, named, python_in
from .lacking import Lack, lack_in
from .tables import (
    Release,
    Row,
    Span,
    admits,
    fitting,
    modules,
    names,
    packages,
    release,
    row_of,
    span_of,
    spelled,
)

_CALLED = {
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "jax": "JAX",
    "flax": "Flax",
    "optax": "Optax",
    "numpy": "NumPy",
}
_PACKAGES = re.compile(
    r"(?:site|dist)-packages/(\w+)/|\b(tensorflow_\w+)/\S{0,120}\.so|\b(tensorflow[-_]\w+)=="
)
_OF_TENSORFLOW = re.compile(
    r"undefined symbol:? _ZNK?\d{1,2}(?:tensorflow|tsl|google|absl|stream_executor)"
)
"""A symbol that TensorFlow's own library is to have."""
_ALL_READ = frozenset({"jax", "flax", "optax", "chex"})
"""Packages of which every name that a release lost is in the table."""
_KERAS3 = (3,)


def of_match(match: Match, text: str) -> Reading | None:
    """What is read from an error: by the releases of its packages, where these decide."""
    known = match.reading
    if match.error.level != "error" or (known is not None and known.placed):
        return known
    told = read(text, match.line)
    sure = known is not None and known.whole
    if told is None and not sure:
        told = offered.read(_around(text, match.line))
    return known if told is None or (sure and told.guess) else told


def _around(text: str, line: int) -> str:
    """The lines around an error in which its releases are named."""
    return "\n".join(text.split("\n")[max(0, line - 30) : line + 10])


def read(text: str, line: int) -> Reading | None:
    """What the releases say of the error on a line of a text; None where they decide nothing."""
    if lack := lack_in(text, line):
        return _of_lack(text, lack)
    before, symbol, _ = _around(text, line).partition("undefined symbol")
    loaded = ["".join(found) for found in _PACKAGES.findall(before)]
    return _of_binary(text, loaded[-1].replace("-", "_")) if symbol and loaded else None


def _of_lack(text: str, lack: Lack) -> Reading | None:
    """Who is too old or too new, where a name is not there."""
    if lack.of_python:
        known = lack.asker and lack.asked != "typing"
        return (
            computed(
                "asks an older Python",
                asks=lack.asker,
                file=lack.file,
                full=lack.full,
                asks_package=_dist(lack.asker),
            )
            if known
            else None
        )
    if lack.asker == lack.asked:
        return computed(
            "two releases of one",
            asked=lack.asked,
            file=lack.file,
            name=lack.name,
            asked_package=_dist(lack.asked),
        )
    # Python names the first part that it did not find: the module around it is there.
    span = names().get(lack.full)
    if span is None:
        return _of_two(text, lack) if lack.asker else None
    return _of_span(text, lack, span)


def _of_two(text: str, lack: Lack) -> Reading:
    """A package that asks another one for a name of which the releases are not known."""
    asks, asked = _dist(lack.asker), _dist(lack.asked)
    own, other = here(text, asks), here(text, asked)
    row = row_of(asks, own.low) if own.exact else None
    wanted = row.requires.get(asked, "") if row else ""
    values = {"asks": lack.asker, "file": lack.file, "full": lack.full, "asked": lack.asked}
    values |= {"asks_package": asks, "asked_package": asked}
    if not (wanted and other.exact and not admits(wanted, other.low)) and asked not in _ALL_READ:
        return computed("asks of another release", **values)
    needs = f" ({lack.asker} {spelled(own.low)} needs {asked}{wanted})" if wanted else ""
    fits = fitting(asks, asked, other.low, python_in(text)) if other.exact else None
    pin = f'pip install "{_pin(asks, fits)}"' if fits else f"pip index versions {asks}"
    fix = f"{pin}      # or {lack.asker} of the time of the {asked} that is here"
    has = f"{asked} {spelled(other.low)}" if other.exact else f"the {asked} that is here"
    return computed("asked is too old", needs=needs, has=has, fix=fix, **values)


def _of_span(text: str, lack: Lack, span: Span) -> Reading | None:
    """What holds for a name that only some releases have."""
    bounds = _bounds(text, lack, span)
    older = bool(span.first) and not (
        bounds.low and bounds.low[: len(span.first)] >= span.first[: len(bounds.low)]
    )
    newer = bool(span.last) and not (bounds.high and bounds.high[: len(span.last)] <= span.last)
    python = python_in(text)
    if older and newer:
        values = _values(lack, span, bounds, _either(lack, span, python))
        return computed("name of some releases", **values)
    if older:
        values = _values(lack, span, bounds, _newer(lack, span, bounds, python), "an older")
        return replace(computed("name too new", **values), alone=True)
    if newer:
        values = _values(lack, span, bounds, _older(lack, span, bounds, python), "a newer")
        return replace(computed("name too old", **values), alone=True)
    if not bounds.exact:
        return None
    values = _values(lack, span, bounds, _anew(text, span.package, bounds))
    return computed("name that is there", **values)


def _anew(text: str, package: str, bounds: Here) -> str:
    """The command that installs a package and what the text names of those on top of it."""
    pins = [f'"{package}=={spelled(bounds.low[:2])}.*"']
    for module, other in modules().items():
        if (
            other not in {package, "keras"}
            and re.search(rf"\b{module}\b", text)
            and (row := fitting(other, package, bounds.low))
        ):
            pins.append(f'"{_pin(other, row)}"')
    wheels = (
        "tensorflow tensorflow-cpu tensorflow-tpu tensorflow-gpu keras"
        if package == "tensorflow"
        else package
    )
    return f"pip uninstall -y {wheels}; pip install --no-cache-dir {' '.join(pins)}      # then restart the kernel"


def _bounds(text: str, lack: Lack, span: Span) -> Here:
    """What is known of the package that is to have a name: its module was found."""
    bounds = here(text, span.package)
    if span.package == "keras" and not bounds.exact:
        bounds = _of_tensorflow(text) or bounds
    around = span_of(lack.full.rpartition(".")[0]) if lack.within else None
    if bounds.exact or around is None or around.package != span.package or around == span:
        return bounds
    low = max(bounds.low, around.first)
    high = min((each for each in (bounds.high, around.last) if each), default=())
    return Here(low, high, bounds.how or f"`{lack.full.rpartition('.')[0]}` was found")


def _of_tensorflow(text: str) -> Here | None:
    """What TensorFlow's release tells of Keras's, which it brings."""
    tensorflow = here(text, "tensorflow")
    row = row_of("tensorflow", tensorflow.low) if tensorflow.exact else None
    wanted = row.requires.get("keras") if row else None
    fits = [each for each in packages()["keras"] if wanted and admits(wanted, each.last)]
    if not fits:
        return None
    last = () if fits[-1] == packages()["keras"][-1] else fits[-1].last
    return Here(fits[0].first, last, tensorflow.how)


def _values(
    lack: Lack, span: Span, bounds: Here, fix: str, side: str = "another"
) -> dict[str, str]:
    """What the answer says: the name, the releases that have it, the one here, who asks."""
    package = _CALLED.get(span.package, span.package)
    asks = f"the installed package `{lack.asker}` ({lack.file}), which asks for it"
    return {
        "full": lack.full,
        "package": package,
        "pip": span.package,
        "first": spelled(span.first),
        "last": spelled(span.last),
        "here": f"{package} here is {spelled(bounds.low) if bounds.exact else f'{side} one'}",
        "who": asks if lack.asker else "the code that asks for it",
        "fix": fix,
        "there": _range(span),
    }


def _range(span: Span) -> str:
    """The releases of a span in words."""
    if span.first and span.last:
        return f"{spelled(span.first)} to {spelled(span.last)}"
    return f"{spelled(span.first)} on" if span.first else f"the first to {spelled(span.last)}"


def _newer(lack: Lack, span: Span, bounds: Here, python: Release) -> str:
    """What mends a package that is too old."""
    rows = [_upgrade(span, python)]
    if lack.asker:
        row = fitting(_dist(lack.asker), span.package, bounds.low, python) if bounds.exact else None
        rows.append(
            f'pip install "{_pin(_dist(lack.asker), row)}"      # or {lack.asker} of the time of {span.package} {spelled(bounds.low)}'
            if row
            else _before(lack, span)
        )
    elif (
        lack.full.startswith("tf.contrib")
        and (place := moved.place_of(lack.full))
        and "\n" not in place
    ):
        rows.append(f"{place}      # or in TensorFlow 2, in place of {lack.full}")
    elif other := _elsewhere(lack, span, bounds):
        rows.append(f"{other}      # or what the release that is here has in its place")
    return "\n".join(rows)


def _before(lack: Lack, span: Span) -> str:
    """The command for the asker's last release of before a name was there."""
    asks = _dist(lack.asker)
    came = next((row for row in packages().get(span.package, ()) if row.last >= span.first), None)
    row = next(
        (row for row in reversed(packages().get(asks, ())) if came and row.month < came.month), None
    )
    known = f'pip install "{_pin(asks, row)}"' if row else f"pip index versions {asks}"
    return (
        f"{known}      # or an older {lack.asker}: of before {span.package} {spelled(span.first)}"
        + (f" ({came.month})" if came else "")
    )


def _upgrade(span: Span, python: Release) -> str:
    """The command that brings a release which has a name."""
    first = spelled(span.first)
    row = row_of(span.package, span.first)
    pythons = (
        f"; from Python {spelled(row.pythons[0])} on"
        if row and row.pythons[0] and python and python < row.pythons[0]
        else ""
    )
    if span.package == "keras" and span.first >= _KERAS3:
        return f'pip install -U "tensorflow>=2.16" "keras>={first}"      # Keras {first} has it{pythons}; TensorFlow up to 2.15 goes with Keras 2'
    last = f",<{_after(span.last)}" if span.last else ""
    return f'pip install -U "{span.package}>={first}{last}"      # {_range(span)}{pythons}'


def _older(lack: Lack, span: Span, bounds: Here, python: Release) -> str:
    """What mends a package that is too new."""
    last = row_of(span.package, span.last)
    first_without = next(
        (
            row
            for row in packages().get(span.package, ())
            if row.first > span.last[:2] and (not last or row.first > last.last)
        ),
        None,
    )
    pin = _pinned(span, last)
    if not lack.asker:
        place = moved.place_of(lack.full) or _elsewhere(lack, span, bounds) or _inner(lack, span)
        return (
            f"{place}      # in place of {lack.full}\n{pin}"
            if place and "#" not in place
            else f"{place}\n{pin}"
            if place
            else pin
        )
    asks = _dist(lack.asker)
    newest = packages().get(asks, ())[-1:]
    if newest and first_without and newest[0].month < first_without.month:
        return f"{pin}\n# {lack.asker} ended with {spelled(newest[0].last)} ({newest[0].month}), before that: there is none for a newer {span.package}"
    fits = fitting(asks, span.package, bounds.low, python) if bounds.exact else None
    update = (
        f'pip install -U "{_pin(asks, fits)}"      # made for {span.package} {spelled(bounds.low)}'
        if fits
        else f"pip install -U {asks}      # a release made for a newer {span.package}"
    )
    return f"{update}\n{pin}"


def _either(lack: Lack, span: Span, python: Release) -> str:
    """What to do where the text does not tell the release."""
    module = "tensorflow" if span.package == "tensorflow" else lack.asked
    ask = f'python -c "import {module} as m; print(m.__version__)"      # older than {spelled(span.first)}: the first of these; newer than {spelled(span.last)}: the second'
    return f"{ask}\n{_upgrade(span, python)}\n{_older(lack, span, NOT_TOLD, python)}"


def _pinned(span: Span, row: Row | None) -> str:
    """The command for the last release that has a name."""
    first, last = row.pythons if row else ((), ())
    pythons = f", for Python {spelled(first)} to {spelled(last)}" if first and last else ""
    both = (
        f' "keras=={spelled(span.last)}.*"'
        if span.package == "tensorflow" and (2, 6) <= span.last <= (2, 15)
        else ""
    )
    with_tf = (
        f' "tensorflow=={spelled(span.last[:2])}.*"'
        if span.package == "keras" and (2, 6) <= span.last < (2, 16)
        else ""
    )
    return f'pip install "{span.package}=={_series(span.last)}"{both}{with_tf}      # or the last release that has it{pythons}'


def _series(last: Release) -> str:
    """A release with its corrections."""
    return spelled(last) if len(last) > 2 else f"{spelled(last)}.*"


def _pin(package: str, row: Row) -> str:
    """A requirement for a release and its corrections."""
    return (
        f"{package}=={spelled(row.last)}"
        if len(row.last) < 3 or row.first == row.last
        else f"{package}=={spelled(row.last[:2])}.*"
    )


def _after(last: Release) -> str:
    """The release behind a series."""
    return spelled((*last[:-1], last[-1] + 1))


def _elsewhere(lack: Lack, span: Span, bounds: Here) -> str:
    """The same name in another public module that the release which is here has."""
    tail = f".{lack.name}"
    for full, other in names().items():
        if (
            not full.endswith(tail)
            or full == lack.full
            or other.package != span.package
            or "contrib" in full
        ):
            continue
        begun = (
            not other.first
            or (bounds.low and bounds.low >= other.first)
            or other.first < span.first
        )
        lasts = not other.last or (bounds.high and bounds.high[:2] <= other.last[:2])
        public = ".python." not in full and ".src" not in full and "_" not in full.split(".")[1][:1]
        if begun and lasts and public and full.split(".")[0] == lack.full.split(".")[0]:
            return full
    return ""


def _inner(lack: Lack, span: Span) -> str:
    """What is written in place of an inner module of Keras, all of which went to keras.src."""
    public = ".".join(lack.full.split(".")[:2])
    if span.package != "keras" or span.last != (2, 12) or lack.full == public:
        return ""
    return f"from {public} import NAME      # {lack.full} was no public module: its public names are those of {public}"


def _of_binary(text: str, module: str) -> Reading | None:
    """A compiled package and TensorFlow: whether their releases go together."""
    package = modules().get(module, "")
    tensorflow = here(text, "tensorflow")
    rows = packages().get(package, ())
    if (
        package in {"", "tensorflow"}
        or not tensorflow.exact
        or not any(row.requires.get("tensorflow") for row in rows)
    ):
        return None
    python = python_in(text)
    own = named(text).get(package, ())
    at = row_of(package, release(own[0])) if own else None
    fits = fitting(package, "tensorflow", tensorflow.low, python)
    has = spelled(tensorflow.low)
    wanted = at.requires.get("tensorflow", "") if at else ""
    if at and wanted and admits(wanted, tensorflow.low) and _OF_TENSORFLOW.search(text):
        both = f'"tensorflow=={_series(tensorflow.low[:2])}" "{_pin(package, at)}"'
        return computed("another build", package=package, release=own[0], tensorflow=has, both=both)
    if at and wanted and admits(wanted, tensorflow.low):
        before = next(
            (
                row
                for row in reversed(rows)
                if row.last < at.first and row.requires.get("tensorflow")
            ),
            None,
        )
        needs = before.requires["tensorflow"] if before else ""
        pair = f'pip install "{_pin(package, before)}" "tensorflow{needs}"' if before else ""
        return computed(
            "wheel is broken", package=package, release=own[0], tensorflow=has, fix=pair
        )
    if fits is None:
        return None
    return computed(
        "compiled for another TensorFlow", package=package, tensorflow=has, release=f" {own[0]}" if own else "",
        wanted=f"TensorFlow {wanted}" if wanted else "one TensorFlow alone", fix=f'pip install --force-reinstall --no-deps "{_pin(package, fits)}"      # the one for TensorFlow {has}',
    )  # fmt: skip


def _dist(module: str) -> str:
    """A package as pip knows it."""
    return modules().get(module) or {
        "cv2": "opencv-python-headless", "PIL": "pillow", "yaml": "pyyaml", "kerastuner": "keras-tuner",
    }.get(module, module.replace("_", "-"))  # fmt: skip
