"""TPU605: what the job said, translated."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tpudiag.engine import examine
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.model import KnownError
from tpudiag.model import Check, Evidence, Location, Outcome, Severity, Verdict
from tpudiag.settings import Settings
from tpudiag.signals import (
    CodeFrame,
    Crash,
    Dispatch,
    Environment,
    JobEnd,
    LoggedRecord,
    Origin,
    Refusal,
    RefusedBy,
    Signals,
    TrainingLoop,
    VariableSeen,
)
from tpudiag.signals.environment import JobEndKind

CHECK: Check = import_module("tpudiag.checks.known_error").known_error
EXAMPLES = {error.id: error.example for error in known_errors()}
LINE = Location("train.py", 12)
TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 9, in read\n    go()\n'


def outcome(end: JobEnd | None, origin: Origin = Origin.REHEARSAL, **seen: Any) -> Outcome:
    (said,) = examine(Signals(origin=origin, end=end, **seen), [CHECK], Settings())
    return said


def raised(error: str, **more: Any) -> JobEnd:
    return JobEnd(how="exception", error=error, location=LINE, exit_code=1, **more)


def crashed(id_: str, log_tail: str = "") -> JobEnd:
    return raised(EXAMPLES[id_], log_tail=log_tail)


def logged(text: str, level: str = "ERROR") -> str:
    """A text as a record in the job's output."""
    return f"{level}:trainer:" + text.replace("\n", "\n  ")


def said_ids(said: Outcome) -> list[str]:
    return [finding.message.rsplit("[", 1)[1].rstrip("]") for finding in said.findings]


def evidence(items: tuple[Evidence, ...], name: str) -> Evidence:
    return next(item for item in items if item.name == name)


@pytest.mark.parametrize("id_", ["E03", "E578"])
def test_what_the_log_holds_since_there_is_no_tpu_is_no_fault(id_: str) -> None:
    end = JobEnd(how="finished", exit_code=0, log_tail=logged(EXAMPLES[id_]))
    assert said_ids(outcome(end)) == []
    assert said_ids(outcome(end, Origin.TPU)) == [id_]


@pytest.mark.parametrize(
    "error",
    [
        EXAMPLES["E124"],
        "No module named 'kaggle_datasets'",
        *(EXAMPLES[too_small] for too_small in ("E109", "E110", "E112")),
    ],
)
def test_what_a_rehearsing_machine_does_not_reach_or_hold_is_no_fault(error: str) -> None:
    end = JobEnd(how="exception", error=error)
    (finding,) = outcome(end).findings
    assert finding.severity is Severity.INFO
    assert finding.message.startswith("In this rehearsal, on this machine: ")
    (finding,) = outcome(end, Origin.TPU).findings
    assert finding.severity is Severity.ERROR


def test_the_end_of_data_is_told_by_the_check_that_saw_the_loop_and_not_of_a_stand_in() -> None:
    end = JobEnd(how="finished", exit_code=0, log_tail=logged(EXAMPLES["E131"]))
    assert said_ids(outcome(end)) == ["E131"]
    assert said_ids(outcome(end, stood_in=("tfds mnist",))) == []
    assert said_ids(outcome(end, loop=TrainingLoop(dispatches=8))) == []


@pytest.mark.parametrize(("trainable", "said"), [(True, []), (False, ["E139"])])
def test_a_metric_outside_the_scope_is_not_left_to_the_check_of_the_models_variables(
    trainable: bool, said: list[str]
) -> None:
    outside = VariableSeen(
        name="v", dtype="float32", shape=(200,), bytes=800, in_scope=False, trainable=trainable
    )
    assert said_ids(outcome(crashed("E139"), variables=(outside,))) == said


def test_what_the_rehearsal_ended_is_no_error_of_the_scripts() -> None:
    refusal = Refusal(RefusedBy.WALL, "PermissionError")
    said = outcome(crashed("E124"), refusal=refusal)
    assert said.verdict is Verdict.SKIPPED and "the wall" in (said.reason or "")


OF_PYTHON: tuple[str, ...] = import_module("tpudiag.checks.known_error").OF_PYTHON
ENDING = [
    error
    for error in known_errors()
    if not error.noise
    and error.family not in OF_PYTHON
    # Texts without a match are reported where they were cut: a job's traceback is complete.
    and error.patterns
]


@pytest.mark.parametrize("family", OF_PYTHON)
def test_errors_of_pythons_own_are_left_to_the_jobs_traceback(family: str) -> None:
    ids = [error.id for error in known_errors() if error.family == family]
    assert ids
    for id_ in ids:
        said = outcome(crashed(id_))
        assert said.verdict is Verdict.SKIPPED
        assert said.cause is not None and EXAMPLES[id_] in said.cause


@pytest.mark.parametrize(
    "error",
    # Every tenth in the quick part: matching each entry's own words is tested there for all.
    [
        pytest.param(error, id=error.id, marks=[pytest.mark.slow] if number % 10 else [])
        for number, error in enumerate(ENDING)
    ],
)
def test_every_known_error_that_ends_a_job_is_translated(error: KnownError) -> None:
    said = outcome(crashed(error.id))
    assert said.verdict is Verdict.FAILED
    assert said_ids(said) == [error.id]
    (finding,) = said.findings
    assert finding.location == LINE
    assert finding.fix
    assert evidence(finding.evidence, "matched text").source == "exception"


def test_values_of_the_text_are_said_and_shown() -> None:
    (finding,) = outcome(crashed("E18")).findings
    assert "36.00G" in finding.message and "15.75G" in finding.message
    assert evidence(finding.evidence, "needed").value == "36.00G"
    assert finding.severity is Severity.ERROR


def test_a_release_that_has_a_name_is_not_said_to_be_too_old_for_it() -> None:
    said = "ImportError: cannot import name 'OneDeviceStrategy' from 'tensorflow.distribute' (x.py)"

    def told(version: str) -> str:
        installed = Environment(python="3.11", distributions={"tensorflow": version})
        found = outcome(raised(said), environment=installed).findings
        return " ".join(each.message for each in found)

    assert "an older one" not in told("2.15.1") and "1.13" in told("1.13.2")


def test_exception_stands_before_the_log_and_each_error_once() -> None:
    said = outcome(crashed("E25", f"{logged(EXAMPLES['E06'])}\n{logged(EXAMPLES['E25'])}"))
    assert said_ids(said) == ["E25", "E06"]
    exception, log = said.findings
    assert exception.location == LINE and log.location is None
    assert evidence(log.evidence, "matched text").source == "log"
    assert (exception.severity, log.severity) == (Severity.ERROR, Severity.WARNING)
    assert said.severity is Severity.ERROR


SAID, PRINTED = logged(EXAMPLES["E06"]), TRACEBACK + EXAMPLES["E71"]
OWN = Crash("AssertionError: one", (CodeFrame(LINE, "cell", "assert n == 1, 'one'"),), "")
KNOWN = replace(OWN, error=EXAMPLES["E12"])


@pytest.mark.parametrize(
    ("end", "severities"),
    [
        (JobEnd(how="stopped", log_tail=SAID), "warning"),
        (JobEnd(how="stopped", log_tail=EXAMPLES["E36"]), "info"),
        (JobEnd(how="running", log_tail=SAID), "warning"),
        (JobEnd(how="interrupted", log_tail=SAID), "warning"),
        (raised("NameError: name 'i' is not defined", log_tail=SAID), "warning"),
        (JobEnd(how="exception", error=OWN.error, log_tail=SAID), "error"),
        (JobEnd(how="exception", error=OWN.error, crash=OWN, log_tail=SAID), "warning"),
        (crashed("P24", SAID), "error warning"),
        (JobEnd(how="exception", error=KNOWN.error, crash=KNOWN, log_tail=PRINTED), "error info"),
        (JobEnd(how="finished", log_tail=PRINTED), "info"),
    ],
)
def test_what_a_log_says_weighs_as_the_job_ended(end: JobEnd, severities: str) -> None:
    findings = outcome(end).findings
    assert (
        " ".join(str(finding.severity and finding.severity.value) for finding in findings)
        == severities
    )
    noted = "In an exception that the script caught and printed: "
    assert findings[-1].message.startswith(noted) is (end.log_tail == PRINTED)


def test_what_autograph_warns_of_in_the_log_is_left_to_the_exception() -> None:
    warned = (
        "WARNING:tensorflow:AutoGraph could not transform <function framework_of at 0x7f0> and "
        "will run it as-is.\nCause: for/else statement not yet supported\n"
    )
    assert not outcome(JobEnd(how="finished", exit_code=0, log_tail=warned)).findings
    assert said_ids(outcome(crashed("E402", warned))) == ["E402"]


def test_a_consequence_in_the_log_is_left_out_and_an_exception_that_is_one_is_not() -> None:
    assert said_ids(outcome(crashed("E26", log_tail=logged(EXAMPLES["E28"])))) == ["E26"]
    assert said_ids(outcome(crashed("E48"))) == ["E48"]
    assert said_ids(outcome(crashed("E28", log_tail=logged(EXAMPLES["E26"])))) == ["E28", "E26"]


@pytest.mark.parametrize(
    "end",
    [
        JobEnd(how="finished", exit_code=0, log_tail="epoch 1/3"),
        JobEnd(how="stopped"),
        JobEnd(how="exit", exit_code=0),
    ],
    ids=lambda end: end.how,
)
def test_normal_end_passes_on_evidence(end: JobEnd) -> None:
    said = outcome(end)
    assert said.verdict is Verdict.PASSED
    assert evidence(said.evidence, "job ended").value == end.how
    assert evidence(said.evidence, "known errors looked for").value == len(known_errors())


@pytest.mark.parametrize(
    "end",
    [
        raised("ZeroDivisionError: division by zero"),
        JobEnd(how="exception", error=None),
        JobEnd(how="finished", error="KeyError: 'labels'"),
        JobEnd(how="exit", exit_code=3),
        JobEnd(how="exit"),
        JobEnd(how="signal", exit_code=-9),
        JobEnd(how="signal", error="killed by signal 9", exit_code=-9),  # our words of it
        JobEnd(how="timeout"),
    ],
    ids=lambda end: f"{end.how} {end.exit_code}",
)
def test_unknown_end_is_never_healthy(end: JobEnd) -> None:
    said = outcome(end)
    assert said.verdict is Verdict.SKIPPED
    assert said.cause is not None and "not in the catalogue" in said.cause
    assert said.how_to_measure


def test_unknown_exception_is_named_beside_what_the_log_says() -> None:
    said = outcome(raised("KeyError: 'labels'", log_tail=EXAMPLES["E35"]))
    assert said_ids(said) == ["E35"]
    assert "KeyError: 'labels'" in str(evidence(said.evidence, "exception").value)


def test_unknown_error_is_shown_whole_and_an_endless_one_by_its_ends() -> None:
    chain = (
        "KeyError: 'labels'\n\nDuring handling of the above exception, another one occurred:\n\n"
        "RuntimeError: the layer could not be made" + ", and so on" * 40
    )
    said = outcome(JobEnd(how="exception", error=chain))
    assert said.cause is not None
    assert "KeyError: 'labels'" in said.cause and said.cause.count(", and so on") == 40
    assert "building the model" in said.cause
    said = outcome(JobEnd(how="exception", error="ValueError: " + "x" * 10_000 + " the end"))
    assert said.cause is not None and len(said.cause) < 2_500
    assert "ValueError: xxx" in said.cause and "the end" in said.cause


def test_noise_is_no_finding_and_an_unobserved_job_is_skipped() -> None:
    end = JobEnd(how="finished", exit_code=0, log_tail=EXAMPLES["N01"])
    assert outcome(end).verdict is Verdict.PASSED
    said = outcome(None)
    assert said.verdict is Verdict.SKIPPED
    assert said.how_to_measure


@pytest.mark.parametrize("id_", ["R01", "R02", "R03"])
def test_artefact_of_the_rehearsal_is_not_the_users_fault_and_unknown_on_a_tpu(id_: str) -> None:
    said = outcome(crashed(id_))
    assert said.severity is Severity.INFO
    assert "not a fault of the script" in said.findings[0].message
    assert outcome(crashed(id_), Origin.TPU).verdict is Verdict.SKIPPED


def test_a_missing_package_is_of_the_environment_and_a_module_that_is_gone_is_not() -> None:
    for name, severity in (("cv2", Severity.INFO), ("tensorflow.gone", Severity.ERROR)):
        end = JobEnd(how="exception", error=f"ModuleNotFoundError: No module named '{name}'")
        (finding,) = outcome(end).findings
        assert finding.severity is severity
        if name == "cv2":
            assert "pip install opencv-python-headless" in finding.fix, "by its package's name"


def test_what_our_own_lowering_says_in_the_log_is_left_to_the_checks_of_the_step() -> None:
    text = logged("No registered 'StringFormat' OpKernel for XLA_{}_JIT devices compatible with f")
    ids = {
        device: said_ids(outcome(JobEnd(how="finished", exit_code=0, log_tail=text.format(device))))
        for device in ("CPU", "TPU")
    }
    assert ids == {"CPU": [], "TPU": ["E96"]}


@pytest.mark.parametrize(
    "healthy",
    [
        "{'run_eagerly': False, 'tpu': 'local'}",
        "Collecting XSpace to repository: /logs-of-tpudiag/run_eagerly.py-1/vm.xplane.pb",
        "I1123 14:20:53.123456 139 train.py:9] params: {'run_eagerly': False, 'tpu': 'local'}",
        logged("No module named 'tensorflow_addons': the optional path is off", "INFO"),
        "2026-11-23 14:26:41,123 trainer INFO Socket closed is tried again",
        "usage: --policy  what to do on an error: Failed to connect to all addresses\n" * 3,
    ],
)
@pytest.mark.parametrize("how", ["finished", "stopped", "running", "timeout", "interrupted"])
def test_what_a_job_prints_or_logs_as_information_is_no_error(
    healthy: str, how: JobEndKind
) -> None:
    assert said_ids(outcome(JobEnd(how=how, log_tail=healthy))) == []


@pytest.mark.parametrize(
    "record",
    [
        "ERROR:trainer:{}",
        "E1123 14:20:53.123456 139 train.py:9] {}",
        "2026-11-23 14:26:41.123456: E tensorflow/core/x.cc:12] {}",
        "2026-11-23 14:26:41,123 [trainer] CRITICAL - {}",
        "\x1b[31m[error    ]\x1b[0m {}",
        '{{"time": "14:26", "level": "error", "message": "{}"}}',
        "Exception in thread Thread-3 (read):\n" + TRACEBACK + "RuntimeError: {}",
    ],
)
def test_an_error_that_was_logged_or_ended_a_thread_counts(record: str) -> None:
    end = JobEnd(how="finished", log_tail="epoch 1\n" + record.format(EXAMPLES["E28"]))
    (finding,) = outcome(end).findings
    assert finding.severity is Severity.WARNING


def test_records_are_heard_whatever_their_format() -> None:
    end = JobEnd(how="finished", log_tail=EXAMPLES["E28"])
    assert said_ids(outcome(end)) == []
    records = (LoggedRecord(EXAMPLES["E28"], error=True),)
    assert said_ids(outcome(end, logged=records)) == ["E28"]


@pytest.mark.parametrize(
    ("protobuf", "said"), [("4.25.9", ["E71"]), ("5.29.6", []), ("?", ["E71"])]
)
def test_what_a_printed_error_asks_to_install_is_not_there_already(
    protobuf: str, said: list[str]
) -> None:
    end = JobEnd(how="finished", log_tail=TRACEBACK + EXAMPLES["E71"])
    there = Environment("3.11", {"tensorflow": "2.18.1", "protobuf": protobuf})
    assert said_ids(outcome(end, environment=there)) == said


def test_an_upgrade_that_an_installed_package_forbids_is_told_with_that(tmp_path: Path) -> None:
    there = tmp_path / "lib/python3.11/site-packages/tensorflow-2.15.1.dist-info"
    there.mkdir(parents=True)
    rows = "Metadata-Version: 2.1\nName: tensorflow\nVersion: 2.15.1\nRequires-Dist: protobuf<3\n"
    (there / "METADATA").write_text(rows)
    environment = Environment("3.11", {"protobuf": "4.25.9"}, path=str(tmp_path / "bin/python"))
    (finding,) = outcome(crashed("E71"), environment=environment).findings
    assert "tensorflow 2.15.1 asks for protobuf<3" in finding.message
    assert finding.message.endswith("[E71]")


def test_a_known_warning_is_a_note_and_one_of_building_none_in_a_job_that_trains() -> None:
    for id_, steps, said in (("E504", 9, ["E504"]), ("E810", 0, ["E810"]), ("E810", 9, [])):
        end = JobEnd(how="finished", log_tail=logged(EXAMPLES[id_], "WARNING"))
        dispatch = Dispatch(steps=steps, steps_per_dispatch=1)
        outcome_ = outcome(end, dispatch=dispatch)
        assert said_ids(outcome_) == said
        assert all(finding.severity is Severity.INFO for finding in outcome_.findings)
    # An error that a warning speaks of did not happen.
    end = JobEnd(how="finished", log_tail=logged(EXAMPLES["E468"], "WARNING"))
    assert said_ids(outcome(end)) == []


def test_a_process_that_died_without_an_exception_is_searched_whole() -> None:
    for end in (JobEnd(how="signal", exit_code=-6), JobEnd(how="exit", exit_code=1)):
        assert said_ids(outcome(replace(end, log_tail=EXAMPLES["E28"]))) == ["E28"]


@pytest.mark.parametrize(
    ("module", "line", "message"),
    [
        ("google", "from google.colab import drive", "google.colab is a module of the notebook"),
        (
            "keras_cv.layers.old",
            "import keras_cv.layers.old",
            "keras_cv is installed, but this release has no",
        ),
    ],
)
def test_a_missing_module_is_told_as_its_import_and_python_tell_it(
    module: str, line: str, message: str
) -> None:
    error = f"ModuleNotFoundError: No module named '{module}'"
    crash = Crash(error, (CodeFrame(LINE, "<module>", line),), "")
    (finding,) = outcome(raised(error, crash=crash)).findings
    assert message in finding.message
    assert finding.severity is Severity.INFO
    assert "not installed" not in finding.message
    assert "pip install google" not in finding.fix


@pytest.mark.parametrize("installed", [True, False])
def test_a_part_is_missing_of_a_package_or_of_the_jobs_own_folder(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "env/lib/python3.11/site-packages"
    for package in ("model_parts.libs", *["model_parts"] * installed):
        (packages / package).mkdir(parents=True)
        (packages / package / "__init__.py").touch()
    (tmp_path / "model_parts").mkdir()
    monkeypatch.chdir(tmp_path)
    python = Environment("3.11", {}, path=str(tmp_path / "env/bin/python"))
    error = "ModuleNotFoundError: No module named 'model_parts.layers'"
    crash = Crash(error, (CodeFrame(LINE, "<module>", "import model_parts.layers"),), "")
    (finding,) = outcome(raised(error, crash=crash), environment=python).findings
    said = "this release has no" if installed else "model_parts is the job's own"
    assert said in finding.message
    (tmp_path / "model_parts").rmdir()
    (finding,) = outcome(raised(error, crash=crash), environment=python).findings
    assert "the job's own" not in finding.message, "found elsewhere, by a path that is not known"


def test_what_follows_from_a_command_that_was_not_run_is_one_note_behind_that() -> None:
    command = "`!gsutil cp gs://bucket/labels.txt .` (cell 2, line 1)"
    end = replace(crashed("E119"), follows_from=command)
    (finding,) = outcome(end).findings
    assert finding.severity is Severity.INFO
    assert finding.message.startswith(f"{command} was not run")
    assert finding.fix.startswith("gsutil cp gs://bucket/labels.txt . ")
