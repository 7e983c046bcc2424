"""Makes the change for a finding in a text, for the tests of each fix."""

from collections.abc import Mapping
from textwrap import dedent

from tpudiag.fixes import catalogue, edits
from tpudiag.fixes.model import Place
from tpudiag.fixes.source import Source
from tpudiag.model import Evidence, Finding, Framework, Location
from tpudiag.report_figures import Value

TF = "import tensorflow as tf\nstrategy = tf.distribute.TPUStrategy(r)\n"
"""The head of a script that trains on TPUs."""


def changed(
    id_: str,
    text: str,
    line: str | None = None,
    message: str = "",
    fix: str = "",
    *,
    hosts: int = 1,
    ram: int | None = None,
    figures: Mapping[str, Value] | None = None,
    limits: Mapping[str, Value] | None = None,
    framework: Framework = Framework.TENSORFLOW,
) -> str:
    """The text with the change for a finding on the first line that holds `line`."""
    text = dedent(text).lstrip("\n")
    number = next((n for n, row in enumerate(text.split("\n"), 1) if line and line in row), None)
    evidence = tuple(
        Evidence(name, value, limit=(limits or {}).get(name))
        for name, value in (figures or {}).items()
    )
    finding = Finding(message, fix, evidence, Location("train.py", number))
    place = Place(
        id=id_, finding=finding, source=Source.parsed(text), line=number, hosts=hosts,
        host_ram_bytes=ram, framework=framework,
    )  # fmt: skip
    return edits.applied(text, catalogue.made(place)[1])
