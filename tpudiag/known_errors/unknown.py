"""An error that is not known: its own words whole, when it came, and what it is nearest to."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

from tpudiag.records import dataclass

from .catalogue import known_errors
from .guidance import Guidance, guidance
from .model import KnownError, Phase
from .plain_text import plain, without_prefixes

LONGEST_HEAD = 1500
LONGEST_TAIL = 400
NEAREST = 3
LEAST_LIKENESS = 0.3
LEAST_WORDS = 3

LONGEST_ROW = 2000
"""Characters of a row that patterns are tried on: longer ones, which programs write, are folded."""

_RAISED = re.compile(
    r"[^\S\n]*(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Failure)\b(?::|$)"
    r"|.{0,60} F [\w./]+\.cc:\d+\]"
)
_DIED = (
    "Check failed:",
    "Fatal Python error",
    "terminate called",
    "core dumped",
    "Segmentation fault",
    "OP_REQUIRES failed at",
)
"""Words of a row that tells of a failure wherever they stand in it."""
_BURIED = re.compile(
    r"(?<![\w.])(?:\w+\.)*(?P<exception>[A-Z]\w*(?:Error|Exception|Interrupt|Failure)): [^\n]*"
)
"""An exception inside a line: of a JSON log, of a sentence around it."""
_SAID = re.compile(
    r"^[^\n]*(?:\[\[node |\{\{node )[^\n]*"
    r"|^[ \t]*(?:ERROR|FATAL|[Ee]rror|[Ff]atal)(?:: | \()[^\n]*",
    re.MULTILINE,
)
"""What has no exception's name before it: a sentence of an operation, a program's `ERROR:`."""
FEW_LINES = 20
_LONG_ROW = re.compile(rf"[^\n]{{{LONGEST_ROW}}}(?=[^\n])")
_WORD = re.compile(r"[A-Za-z_]{4,40}")
_BOILERPLATE = re.compile(
    r"(?:\w+\.)+(?=\w+(?:Error|Exception)\b)|\{\{function_node \S+\}\}|File \"[^\"]*\", line \d+"
    r"|\b(?:tensorflow|python|framework|errors_impl|InvalidArgumentError|ValueError|TypeError"
    r"|AttributeError|RuntimeError|InternalError|NotFoundError)\b"
)
"""Words of nearly every error."""
# The first that fits: `keras`, `model` and frames of the step stand in nearly every traceback,
# whatever the job was at.
_PHASES: tuple[tuple[Phase, str], ...] = (
    (Phase.INSTALLING, r"ImportError|ModuleNotFoundError|undefined symbol|\.so[.\d]*: cannot"),
    (Phase.CREATING, r"gcloud\W.{0,40}tpus?\W.{0,20}create|queued-resource"),
    (Phase.COMPILING, r"Compilation failure|TPU compilation|XLA|\bhlo\b|tf2xla|tpu_compile|Mosaic"),
    (Phase.LOADING, r"loading program|bottom of memory|tpu_load"),
    (Phase.SAVING, r"checkpoint|SavedModel|load_model|load_weights|\.save\(|RestoreV2|SaveV2"),
    (Phase.READING, r"Iterator|Dataset|TFRecord|tf\.data|tfds|input_fn|gs://"),
    (Phase.INITIALISING, r"initialize_tpu_system|TPU initialization|ConfigureDistributedTPU"),
    (Phase.CONNECTING, r"connect_to_(?:cluster|host)|grpc_server|RegisterTask"),
    (Phase.RESOLVING, r"ClusterResolver|metadata server"),
    (Phase.WATCHING, r"profiler|tensorboard|monitoring"),
    (Phase.TRACING, r"in user code|autograph|func_graph|tf\.function|strategy\.run|Replica"),
    (Phase.EXECUTING, r"__inference_|function_node|train_step|Graph execution error|\.fit\("),
    (Phase.BUILDING, r"keras|layer|model|optimizer|variable"),
)


@dataclass(frozen=True)
class UnknownError:
    """An error that is not in the catalogue."""

    text: str
    """Its own words: all exceptions of the chain, the cause first."""
    phase: Phase
    nearest: tuple[KnownError, ...]
    """Known errors that use its words, the most alike first."""
    guidance: Guidance

    @property
    def status(self) -> str | None:
        """The status code that it names."""
        return self.guidance.status


def unknown(text: str, *, unnamed: bool = True) -> UnknownError | None:
    """The failure that a text ends with; None where there is none in it.

    `unnamed`: a short text's sentence without an exception's name counts as one.
    """
    text = plain(without_prefixes(text.encode(errors="replace"))).decode(errors="replace")
    few_lines = text.count("\n") < FEW_LINES
    text = folded(text)
    failures = [row.strip() for row in text.split("\n") if _tells_of_failure(row)]
    if not failures and few_lines:
        failures = [failure[0].strip() for failure in _BURIED.finditer(text)]
        if not failures and unnamed:
            failures = [failure[0].strip() for failure in _SAID.finditer(text)]
    if not failures:
        return None
    message, phase = whole(text, failures), phase_of(text)
    return UnknownError(message, phase, nearest(message), guidance(text, message, phase))


def folded(text: str) -> str:
    """A text whose rows are no longer than patterns are tried on."""
    if len(text) <= LONGEST_ROW:
        return text
    return _LONG_ROW.sub(r"\g<0>\n", text)


def _tells_of_failure(row: str) -> bool:
    """Whether a row is that of an exception, or of a process that died."""
    return _RAISED.match(row) is not None or any(words in row for words in _DIED)


def whole(text: str, failures: list[str]) -> str:
    """The exceptions of a chain, first to last; the last with all that follows it."""
    last = text[text.rindex(failures[-1]) :].strip()
    chain = dict.fromkeys([*failures[:-1], last])
    message = " | ".join(" ".join(each.split()) for each in chain)
    if len(message) <= LONGEST_HEAD + LONGEST_TAIL:
        return message
    return f"{message[:LONGEST_HEAD]} [\u2026] {message[-LONGEST_TAIL:]}"


def phase_of(text: str) -> Phase:
    """What the job was at, from the words of its error."""
    return next((phase for phase, cue in _PHASES if re.search(cue, text)), Phase.ANY)


def nearest(text: str) -> tuple[KnownError, ...]:
    """The known errors whose own texts share the rarest words with an error's."""
    rarity, words_of = _vocabulary()
    words = _words(text)
    weight = sum(rarity.get(word, 0.0) for word in words) or 1.0
    alike = {
        # Over the roots of both weights, as a cosine: a long example would else be near to
        # everything.
        error: sum(rarity[word] for word in shared) / math.sqrt(weight * _weight(error))
        for error, own in words_of.items()
        if len(shared := words & own) >= LEAST_WORDS
    }
    best = sorted(alike, key=lambda error: -alike[error])[:NEAREST]
    return tuple(error for error in best if alike[error] >= LEAST_LIKENESS)


def _words(text: str) -> frozenset[str]:
    """The words that tell something, in lower case."""
    bare = _BOILERPLATE.sub(" ", text)
    return frozenset(word.lower() for word in _WORD.findall(bare))


@cache
def _vocabulary() -> tuple[dict[str, float], dict[KnownError, frozenset[str]]]:
    """How rare each word of the catalogue is, and the words of each error."""
    words_of = {error: _words(error.example) for error in known_errors() if error.patterns}
    counts = Counter(word for words in words_of.values() for word in words)
    # A word that is in every example weighs nothing.
    rarity = {word: math.log(len(words_of) / count) for word, count in counts.items()}
    return rarity, words_of


@cache
def _weight(error: KnownError) -> float:
    """How much the words of a known error weigh together."""
    rarity, words_of = _vocabulary()
    return sum(rarity[word] for word in words_of[error]) or 1.0
