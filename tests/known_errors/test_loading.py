"""An answer loads what it needs: a process explains one text, and ends."""

from tests.sources.job.programs import printed

PROGRAM = """
import sys
from tpudiag.known_errors.reader import in_text
print(in_text(sys.argv[1])[0])
some = ("unknown", "message_grammar", "operand")
print(*(name for name in some if f"tpudiag.known_errors.{name}" in sys.modules))
"""


def loaded_for(text: str) -> list[str]:
    """Of the modules that only some texts need those that one loaded."""
    return printed(PROGRAM, text).splitlines()[-1].split()


def test_a_text_that_is_read_by_its_shapes_loads_no_grammar_of_sentences() -> None:
    text = "logits and labels must be broadcastable: logits_size=[32,8] labels_size=[32,7]"
    assert loaded_for(text) == []


def test_what_is_not_known_loads_what_finds_the_nearest() -> None:
    assert loaded_for("FrobnicationError: the frobs are gone") == ["unknown", "message_grammar"]
