"""What is said of the errors that were found, for people."""

from tpudiag.known_errors import reader
from tpudiag.known_errors.answers import all_rows, error_rows
from tpudiag.known_errors.catalogue import known_errors


def said(text: str) -> list[str]:
    return list(all_rows(reader.in_text(text)))


def test_what_says_less_of_the_same_words_is_named_only() -> None:
    rows = said("ModuleNotFoundError: No module named 'keras.legacy.interfaces'")
    assert [row.split()[0] for row in rows if "(error)" in row] == ["P29"]
    assert rows[-1].endswith("told in general: E280, E518 (tpudiag explain ID)")


def test_an_error_of_other_words_keeps_its_cause() -> None:
    cause = "ValueError: Please provide a TPU Name to connect to.\n"
    rows = said(cause + "step 1\n" * 3 + "ModuleNotFoundError: No module named 'keras.legacy'")
    heads = [row.split()[0] for row in rows if "(error)" in row]
    assert len(heads) > 1
    assert rows[0] and "" in rows, "an empty line parts two answers"


def test_how_sure_a_cause_is_is_said() -> None:
    sure, unsure = (
        "\n".join(said(text))
        for text in (
            "ValueError: Please provide a TPU Name to connect to.",
            "Node scale up failed: GCE quota exceeded",
        )
    )
    assert "\nCause\n" in sure
    head = "E231 (error) line 1: it fits several causes; which of them is not known\n"
    assert unsure.startswith(head) and "\nWhat would decide\n" in unsure
    (known,) = [error for error in known_errors() if error.id == "P29"]
    assert "Cause\n" in "\n".join(error_rows(known, str))


def test_what_the_text_itself_decides_is_not_overruled_by_what_stands_around() -> None:
    barrier = (
        "DEADLINE_EXCEEDED: Barrier timed out. Id: 0_async_write_complete.0.1. This usually happens"
        " because a task triggered the barrier too early or too slowly.\n"
        "# of tasks that reached the barrier: 8/16."
        " [type.googleapis.com/tensorflow.CoordinationServiceError='']"
    )
    words = " ".join("\n".join(said(barrier)).split())
    assert "8 of 16 came to the barrier" in words
    assert "The rest of the text supports" not in words
