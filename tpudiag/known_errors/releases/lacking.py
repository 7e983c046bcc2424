# ruff: noqa: E501  (patterns stay in one piece)
"""Which name an error says is not there, and who asks for it."""

import re
from collections.abc import Container
from typing import NamedTuple

from tpudiag.known_errors.compiled import wording, wordings
from tpudiag.known_errors.place import library_at

from .tables import Span, spans_of_member

SENTENCE_LINES = 8
"""Lines from a match on in which the sentence stands that names what is lacking."""
FRAMES_LINES = 200
SOURCE_LINES = 6
"""Lines before the sentence in which the source of its frame stands."""
_WRITTEN = (
    (r"^tensorflow_core\b", "tensorflow"),
    (r"^np\.", "numpy."),
    (r"^(?:(?:tensorflow\.python\.)?keras\.api\._v[12]\.keras|keras\._tf_keras\.keras)\b", "tf.keras"),
    (r"^keras\.api\.", "keras."),
    (r"^tensorflow(?:\._api\.v[12])?(?:\.compat\.v2|\.v2)?(?=$|\.(?!python|core\b|compiler|_api))", "tf"),
)  # fmt: skip
"""How the table writes a module, by how programs and errors do."""
_SHORT = {"jnp": "jax.numpy", "tensorflow": "tensorflow", "tf": "tensorflow"}


class Lack(NamedTuple):
    """A name that is not there."""

    full: str
    """As the table of names writes it."""
    name: str
    asker: str
    """The installed package that asks for it; empty where it is the user's own code, or not told."""
    file: str
    """Its file."""
    within: bool
    """Whether the module that is to have it was found."""
    further: str = ""
    """What the line that failed asks for within it, by its full name."""
    owner: str = ""
    """The class whose object is to have it; empty where a module is."""
    takes: str = ""
    """Of an argument: `function.argument`, as the table of arguments writes it."""

    @property
    def asked(self) -> str:
        """The module that is to have it."""
        first = self.full.partition(".")[0]
        return "tensorflow" if first == "tf" else first


def lack_in(text: str, line: int) -> Lack | None:
    """What the error on a line of a text says is not there."""
    rows = text.split("\n")
    sentence = "\n".join(rows[max(0, line - 1) : line + SENTENCE_LINES])
    before = "\n".join(rows[max(0, line - FRAMES_LINES) : max(0, line - 1)])
    for form in wordings("lacking forms"):
        found = form.search(sentence)
        if found is None:
            continue
        said = found.groupdict()
        before += "\n" + sentence[: found.start()]
        source = _source(before)
        if owner := said.get("owner"):
            asker, file = library_at(before)
            if not asker and re.search(rf"\bself\.{said['name']}\b", source):
                return None  # of a class of the user's own
            full, name = f"{owner}.{said['name']}", said["name"]
            return Lack(full, name, asker, file, within=True, owner=owner)
        full = f"{said['module']}.{said['name']}" if said.get("module") else said["name"]
        if not said.get("module") and "." not in full:
            full = _by_source(source, said["name"])
        if not full or wording("lacking of_its_time").search(full):
            return None
        asker, file = library_at(before)
        if not asker and full.startswith("tensorflow_core"):
            return None  # the inner name of 1.15 to 2.1 is told by itself
        within = "module named" not in found[0]
        around = "\n".join(rows[max(0, line - SOURCE_LINES) : line + SENTENCE_LINES])
        asked = re.search(rf"\b{said['name'].rpartition('.')[2]}(?P<further>(?:\.\w+)+)", around)
        further = canonical(full) + asked["further"] if asked and within else ""
        return Lack(canonical(full), said["name"], asker, file, within, further)
    return _argument_in(sentence, before)


def _argument_in(sentence: str, before: str) -> Lack | None:
    """The argument that a sentence says a function does not take."""
    hits = (form.search(sentence) for form in wordings("lacking arguments"))
    found = next(filter(None, hits), None)
    if found is None:
        return None
    before += "\n" + sentence[: found.start()]
    said = found.groupdict()
    function = (said.get("function") or "").removesuffix("__init__").strip(".")
    source = _source(before)
    # The class that the source line makes with the argument of an error that does not name it.
    made = re.search(rf"(\w+)\([^()]*(?:\([^()]*\)[^()]*)*\b{found['name']}\s*=", source)
    function = function or (made[1] if made else "")
    module = function and _by_source(source, function.rpartition(".")[2])
    asker, file = library_at(before)
    takes = f"{function}.{found['name']}"
    full = f"{module or function}({found['name']}=)"
    if said.get("keras") or not function:
        full = f"{'keras ' if said.get('keras') else ''}argument {takes.lstrip('.')}="
    return Lack(full, found["name"], asker, file, within=bool(module), takes=takes)


def span_of_member(lack: Lack, text: str = "", packages: Container[str] = ()) -> Span | None:
    """The releases whose class has what is lacking, with its package; one of `packages`, if any.

    Any program may have a class of the same name: `text` names whose it is.
    """
    having = spans_of_member(lack.owner, lack.name)
    spans = [span for span in having if span.package.replace("-", "_") in text.lower()]
    spans = [span for span in spans if span.package in packages] or spans
    return spans[0].installed if len(spans) == 1 else None


def _source(before: str) -> str:
    """What stands right before a sentence: the source of its frame."""
    return "\n".join(before.split("\n")[-SOURCE_LINES:])


def _by_source(source: str, name: str) -> str:
    """The full name, by the source line that asks for it; empty where none does."""
    found = re.search(rf"from ([\w.]+) import [^\n]*\b{name}\b", source) or re.search(
        rf"\b([a-z]\w*(?:\.\w+)*)\.{name}\b", source
    )
    if found is None:
        return ""
    first, dot, rest = found[1].partition(".")
    return f"{_SHORT.get(first, first)}{dot}{rest}.{name}"


def canonical(name: str) -> str:
    """A name as the table writes it: tf. for what is public of TensorFlow."""
    for pattern, written in _WRITTEN:
        name = re.sub(pattern, written, name)
    return name
