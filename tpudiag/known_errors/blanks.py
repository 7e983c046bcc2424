"""The names in a text (TPU, zone, project, bucket, script) put where a fix leaves them blank."""

import re
from collections.abc import Callable, Mapping

from tpudiag import missing_modules

from .compiled import wording

_ZONE = r"(?:us|europe|asia|australia|southamerica|me|northamerica)-[a-z]{4,12}\d{1,2}-[a-f]"
_TPU = r"[a-z][a-z0-9-]{0,61}[a-z0-9]"
_NAMED: tuple[tuple[str, str], ...] = (
    ("ZONE", rf"\b({_ZONE})\b"),
    ("PROJECT", r"--project[= ]\"?([a-z][a-z0-9-]{4,29})\b|\bprojects/([a-z][a-z0-9-]{4,29})\b"),
    (
        "NAME",
        rf"\btpus? (?:tpu-vm )?(?:ssh|scp|describe|delete|stop|start|create) (?:[\w.]+@)?({_TPU})\b"
        rf"|/nodes/({_TPU})\b|\bTPU_NAME[= ]\"?'?({_TPU})\b|\btpu(?:_name)?=['\"]({_TPU})['\"]",
    ),
    ("BUCKET", r"\bgs://([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?=[/'\"\s;,)]|$)"),
    (
        "ADDRESS",
        r"\bgrpc://(\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}|\bipv4:(?!127\.)(\d{1,3}(?:\.\d{1,3}){3}):8470",
    ),
)
_NO_NAMES = {
    "NAME": re.compile(r"local|NAME|my-tpu-name|grpc.*"),
    # Buckets that everybody reads: no one's own data or checkpoints go there.
    "BUCKET": re.compile(
        r"cloud-tpu-.*|tfds-.*|tensorflow.*|kds-.*|t5-.*|tpu-.*|bert_models|gresearch|tfhub.*|BUCKET|.*bucket"
    ),
}


def names_in(text: str) -> dict[str, str]:
    """By its blank: what a text names once only, so that it is sure to be meant."""
    names: dict[str, str] = {}
    for blank, pattern in _NAMED:
        if blank not in _CUES or any(cue in text for cue in _CUES[blank]):
            others = _NO_NAMES.get(blank)
            named = {
                name
                for hit in re.finditer(pattern, text)
                for name in hit.groups()
                if name and not (others and others.fullmatch(name))
            }
            if len(named) == 1:
                names[blank] = named.pop()
    return names | _of_package(text) | _of_framework(text)


_SPEAKS_OF = {
    "TensorFlow": re.compile(
        r"-packages/(?:tensorflow|keras)\w*/|\bimport tensorflow|\btf\.|\btensorflow[\w-]*=="
        r"|^tensorflow\S* +\d",
        re.M,
    ),
    "JAX": re.compile(
        r"-packages/jax(?:lib)?/|\bimport jax\b|\bJAX_\w|\bjax(?:lib)?(?:\[tpu\])?=="
        r"|^jax(?:lib)? +\d",
        re.M,
    ),
    "PyTorch/XLA": re.compile(
        r"-packages/torch_xla/|\bpytorch[_-]lightning\b"
        r"|\b(?:import|from) torch_xla\b|\btorch[_-]xla\S*==|^torch_xla +\d",
        re.M,
    ),
}
_INSTALLED = {
    "JAX": 'pip install -U "jax[tpu]"      # with the libtpu that it goes with',
    "PyTorch/XLA": 'pip install -U torch "torch_xla[tpu]"      # with the libtpu that it goes with',
}


def _of_package(text: str) -> dict[str, str]:
    """What to install for a module that is not there."""
    found = re.search(r"No module named '([\w.]+)'", text)
    if found is None:
        return {}
    own = found[1].partition(".")[0].replace("_", "-")
    return {"package": missing_modules.known_package(found[1]) or own}


def _of_framework(text: str) -> dict[str, str]:
    """How the framework of a text is called and installed, where it is not TensorFlow."""
    spoken = [name for name, pattern in _SPEAKS_OF.items() if pattern.search(text)]
    if len(spoken) != 1 or spoken[0] not in _INSTALLED:
        return {}
    return {"framework": spoken[0], "tpu_install": _INSTALLED[spoken[0]]}


_CUES = {
    "PROJECT": ("--project", "projects/"),
    "NAME": ("tpu",),
    "BUCKET": ("gs://",),
    "ADDRESS": ("grpc://", "ipv4:"),
}
"""Words without which a text holds no such name: most hold none, and are not searched."""


def filled(fix: str, names: Mapping[str, str]) -> str:
    """A fix with the names in its blanks; where a TPU is made, zone and name are left open."""
    if not names:
        return fix
    return "\n".join(_filled_row(row, names) for row in fix.split("\n"))


def _filled_row(row: str, names: Mapping[str, str]) -> str:
    """A line of a fix with the names in its blanks."""
    makes = bool(wording("blanks makes").search(row))
    for blank, place in _PLACES:
        if blank in names and not (makes and blank in {"ZONE", "NAME"}):
            row = place(row, names[blank])
    return row


def _replaced(pattern: str) -> Callable[[str, str], str]:
    """Puts a name where a pattern stands."""
    place = re.compile(pattern)
    return lambda row, name: place.sub(lambda _: name, row)


_PLACES: tuple[tuple[str, Callable[[str, str], str]], ...] = (
    ("ZONE", _replaced(r"(?<=--zone=)ZONE\b|(?<=zone=\")ZONE\b")),
    (
        "PROJECT",
        _replaced(r"(?<=--project=)PROJECT\b|(?<=project=\")PROJECT\b|(?<= )PROJECT(?= --)"),
    ),
    ("NAME", _replaced(r"(?<= )NAME(?= --(?:zone|worker))|(?<=tpu=\")NAME(?:_OF_THE_TPU)?\b")),
    ("BUCKET", _replaced(r"(?<=gs://)BUCKET\b")),
    ("ADDRESS", _replaced(r"(?<=nc -vz )ADDRESS\b")),
    (
        "tensorflow",
        _replaced(r"\bTHE_VERSION_OF_TENSORFLOW\b|\bTENSORFLOW_RELEASE\b"),
    ),
    ("SCRIPT", _replaced(r"(?<![\w/.])train\.py\b")),
)
