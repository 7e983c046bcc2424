"""What a report says of how much of a script was run."""

from dataclasses import replace

from tpudiag.diagnoses import script_coverage
from tpudiag.model import Location
from tpudiag.script_run import (
    Coverage,
    HookDefect,
    InterventionKind,
    Misfit,
    ShortenedLoop,
    StepFunction,
    UnreachedLines,
)

HERE = Location("train.py", 40)
STEP = StepFunction(
    name="train_step",
    location=Location("train.py", 12),
    called_at=HERE,
    ran=25,
    forwarded=975,
    call_ms=8.0,
)
FIT = StepFunction(
    name="one_step_on_iterator",
    location=None,
    called_at=Location("train.py", 50),
    ran=27,
    forwarded=0,
)


def test_each_training_function_is_named() -> None:
    wrapped = replace(STEP, name="main.step", location=None, forwarded=0)
    fits = FIT, replace(FIT, name="JAXTrainer.train_step")
    told = [Coverage(end="whole", functions=(STEP, wrapped, fit)) for fit in fits]
    ((note,), (of_jax,)) = map(script_coverage.notes, told)
    assert of_jax == note
    assert note == (
        "Training functions: train_step (train.py:12): 25 calls ran, 975 more were answered with "
        "its last result; main.step (train.py:40): 25 calls ran; Keras' training step "
        "(train.py:50): 27 calls ran."
    )


def test_an_evaluation_that_was_cut_short_is_no_training_function() -> None:
    beside = replace(STEP, name="evaluate", trains=False)
    of_steps, short = script_coverage.notes(Coverage(end="whole", functions=(STEP, beside)))
    assert "evaluate" not in of_steps
    assert short.startswith("Cut short beside them: evaluate (train.py:12): 25 calls ran, 975 more")


def test_what_was_shortened_is_said() -> None:
    loops = (ShortenedLoop("epochs of fit", HERE, 2, 90), ShortenedLoop("tf.range", HERE, 4, None))
    (note,) = script_coverage.notes(Coverage(end="whole", shortened=loops))
    assert note == (
        "Shortened past the steps observed: epochs of fit (train.py:40): 2 of 90; tf.range "
        "(train.py:40): 4 of all. Of each batch that Keras then read, some "
        "examples stood for the others where its pipeline allows it."
    )

    (own,) = script_coverage.notes(Coverage(end="whole", shortened=loops[1:]))
    assert own == "Shortened past the steps observed: tf.range (train.py:40): 4 of all."


def test_what_the_time_did_not_reach_is_said_first() -> None:
    rest = tuple(UnreachedLines("train.py", n, n, f"step_{n}()") for n in range(41, 47))
    ended = Coverage(end="budget", stopped_at=HERE, unreached=rest, rest_s=60.1)
    (note,) = script_coverage.urgent(ended, (), (), {})
    ended_at = "The time for the rest of the script ended at train.py:40, after 60 s"
    assert note.startswith(f"{ended_at}; 6 statements were not reached: ")
    assert "train.py:41 step_41()" in note
    assert "and 2 more" in note
    assert list(script_coverage.urgent(Coverage(end="whole"), (), (), {})) == []
    (note,) = script_coverage.urgent(replace(ended, end="crash"), (), (), {}, killed=True)
    assert note.startswith("The job was ended at train.py:40, after 60 s; 6 statements")


def test_what_did_not_fit_is_said_to_be_ours() -> None:
    cut = Misfit((InterventionKind.PREDICTIONS,), HERE, "ValueError: 4 rows")
    (note,) = script_coverage.urgent(None, (cut,), (), {})
    assert note == (
        "The rehearsal's shortened predictions do not fit at train.py:40: it ran without. "
        "The error: ValueError: 4 rows"
    )


def test_a_hook_that_failed_is_said_to_be_ours() -> None:
    defect = HookDefect("Dataset.map", "KeyError: 1", "...")
    for installed, said in (
        ({"jax": "0.4.30", "tensorflow-cpu": "2.13.1"}, " failed (Dataset.map): our defect, not"),
        ({"jax": "0.4.13"}, " (Dataset.map) saw nothing: jax 0.4.13 is older than what is rehears"),
        ({"tensorflow-cpu": "2.9.3"}, " (Dataset.map) saw nothing: tensorflow 2.9.3 is older"),
    ):
        (note,) = script_coverage.urgent(None, (), (defect,), installed)
        assert note.startswith(f"1 hook of tpudiag{said}")


def test_where_only_the_first_loop_was_wanted_it_is_said() -> None:
    (note,) = script_coverage.notes(Coverage(end="first loop", functions=(STEP,)))
    assert "--first-loop" in note
