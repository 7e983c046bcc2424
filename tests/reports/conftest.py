"""Reports of every kind that a renderer must cope with."""

import os
from dataclasses import replace

import pytest

from tests import made
from tpudiag.model import (
    Evidence,
    Finding,
    Location,
    Outcome,
    Report,
    Severity,
    Subject,
    TargetSummary,
    Verdict,
    skipped_reason,
)
from tpudiag.report_figures import (
    Excerpt,
    Measurement,
    PlanRow,
    Series,
    SeriesKind,
    StepPrediction,
    Table,
)
from tpudiag.script_run import CodeFrame, Crash

HOSTILE = (
    "<script>alert(1)</script> [bold red]x[/] **b** `c` | \x1b[31mred\x1b]8;;http://e\x07 \x9b1m"
    " @someone #1 \r\x08 \u202egnp.exe [a](http://e) ![i](x) {{ j }} $m$ \udc80 é 漢字"
)

CRASH = Crash(
    "ValueError: no data <here> & there",
    (
        CodeFrame(Location("train.py", 40), "<module>", "main()"),
        CodeFrame(Location("train.py", 12), "main", "for batch in data[`x`]:"),
    ),
    'Traceback (most recent call last):\n  File "train.py", line 40, in <module>\n    main()\n'
    '  File "train.py", line 12, in main\n    for batch in data[`x`]:\n'
    "ValueError: no data <here> & there\n",
)
PASSED = made.outcome(
    "TPU101",
    Verdict.PASSED,
    name="retracing",
    severity=Severity.WARNING,
    evidence=(Evidence("traces of train_step", 1, "traces", 1),),
)
PRECISION = made.outcome(
    "TPU403",
    Verdict.PASSED,
    name="float32-compute",
    severity=Severity.INFO,
    evidence=(
        Evidence("policy", "mixed_bfloat16", source="keras"),
        Evidence("16-bit share of compute", 97.23, "%", 10),
    ),
)
NO_MXU = ("a rehearsal on CPU has no MXU", "run it on the TPU, then `tpudiag read logs/`")
SKIPPED = tuple(
    made.outcome(
        id_,
        Verdict.SKIPPED,
        name=name,
        severity=Severity.WARNING,
        reason=skipped_reason(*why),
        how_to_measure=why[1],
    )
    for id_, name, why in (
        ("TPU405", "low-mxu", NO_MXU),
        ("TPU406", "device-idle", NO_MXU),
        ("TPU503", "straggler", ("there is one host", "profile at least 3 hosts")),
        ("TPU604", "stalled", ("the check saw nothing to judge", None)),
    )
)
BROKEN = made.outcome(
    "TPU105",
    Verdict.BROKEN,
    name="host-callback",
    severity=Severity.WARNING,
    reason="KeyError: 'PyFunc'\nin the graph",
)
INPUT_BOUND = Finding(
    "The step waits for input 38.1 % of its time: 12.3 of 32.4 ms, and all replicas stand idle.",
    "dataset = dataset.prefetch(tf.data.AUTOTUNE)\nfor batch in dataset:\n    train_step(batch)",
    (
        Evidence("input wait", 38.123, "%", 20, "profile"),
        Evidence("step time", 32.4, "ms", source="profile"),
    ),
    Location("train.py", 41),
    cost_ms_per_step=12.3,
)


def failed(id_: str, name: str, severity: Severity, *findings: Finding) -> Outcome:
    return made.outcome(id_, Verdict.FAILED, *findings, name=name, severity=severity)


def report(*outcomes: Outcome) -> Report:
    return made.report(
        *outcomes,
        target=TargetSummary("v5e-8", 8),
        started="2026-01-02T03:04:05+00:00",
        measurements={
            "step_time_ms": Measurement(32.4, "ms", "job"),
            "peak_hbm_bytes": Measurement(15032385536, "bytes", "estimate"),
        },
        tables=(),
        headline="No TPU here: rehearsing for v5e-8 on 8 CPU replicas.",
        notes=("The first 3 steps are left out as warm-up.",),
        next_command="uvx --from tensorboard-plugin-profile tensorboard --logdir /tmp/tpudiag/logs",
    )


def _each_severity() -> Report:
    unscoped = Finding(
        "The variable was created outside strategy.scope().",
        "with strategy.scope():\n    model = build_model()",
        (Evidence("variables outside scope", 161, "variables", 0),),
        Location("/home/someone/projects/tpu-training-jobs/vision/models/resnet/train.py", 12),
        cost_bytes=14 * 2**30,
    )
    return report(
        PASSED,
        failed("TPU401", "batch-multiple", Severity.INFO, Finding("100 is no multiple of 8.", "")),
        failed("TPU404", "needless-loss-scaling", Severity.WARNING, Finding("Scaled.", "x = 1")),
        failed(
            "TPU501",
            "variables-outside-scope",
            Severity.WARNING,
            unscoped,
            replace(unscoped, severity=Severity.INFO, location=Location("b.py"), cost_bytes=None),
        ),
        failed("TPU201", "input-bound", Severity.ERROR, INPUT_BOUND),
        *SKIPPED,
    )


def _profile() -> Report:
    operation = "%fusion.123 = bf16[128,1024]{1,0} fusion(bf16[128,1024] %p.0), kind=kOutput"
    return made.report(
        PASSED,
        *SKIPPED,
        subject=Subject("profile", "logs/plugins/profile/2026_01_02"),
        tables=(
            Table(
                "Top operations",
                ("operation", "self time ms", "share %", "of matmul"),
                ((operation, 12.3456, 40.0, True), ("copy.1", 1, 2.5, False)),
                "profile",
            ),
        ),
        partial="the profile of host 3 is cut short",
    )


def _hostile() -> Report:
    odd = made.outcome(HOSTILE, Verdict.PASSED, name=HOSTILE, severity=Severity.INFO)
    evidence = (Evidence(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE), Evidence("n", float("nan")))
    finding = Finding(HOSTILE, HOSTILE + "\n```\nend", evidence, Location(HOSTILE, 1))
    return made.report(
        replace(odd, evidence=evidence),
        replace(odd, verdict=Verdict.FAILED, findings=(finding,)),
        replace(odd, verdict=Verdict.SKIPPED, reason=HOSTILE, how_to_measure=HOSTILE),
        replace(odd, verdict=Verdict.BROKEN, reason=HOSTILE),
        subject=Subject("job", HOSTILE),
        target=TargetSummary(HOSTILE, 8),
        measurements={HOSTILE: Measurement(HOSTILE, HOSTILE, HOSTILE)},
        tables=(Table(HOSTILE, (HOSTILE,), ((HOSTILE,),), HOSTILE),),
        headline=HOSTILE,
        notes=(HOSTILE,),
        next_command=HOSTILE,
        partial=HOSTILE,
    )


def _long() -> Report:
    path = "/mnt/disks/" + "very-long-folder-name/" * 12 + "train.py"
    said = f"The file {path} cannot be seen by the hosts. " + "x" * 300 + "\n\nSecond paragraph."
    finding = Finding(
        said,
        "dataset = tf.data.TFRecordDataset(" + ", ".join(f"'gs://b/{i}'" for i in range(30)) + ")",
        (Evidence("signature " + "y" * 90, "(TensorSpec(shape=(None, 224)), " * 5, limit="z"),),
        Location(path, 12345),
    )
    return report(
        replace(PASSED, evidence=PASSED.evidence * 9),
        failed("TPU208", "local-path", Severity.ERROR, finding),
        replace(BROKEN, name="n" * 100, reason="r" * 200),
    )


def _series() -> tuple[Series, ...]:
    """What a profile of three hosts with a straggler gives."""
    wait = tuple(9.0 + (i % 5) + 20 * (i == 5) for i in range(9))
    hosts = {f"host-{i} TensorCore 0": 4.0 * (i == 2) for i in range(3)}
    gib = float(2**30)

    def of_steps(
        kind: SeriesKind, name: str, y: tuple[float, ...], source: str = "profile"
    ) -> Series:
        steps = tuple(float(number) for number in range(40, 49))
        return made.series(kind, y, name, x=steps, source=source)

    return (
        of_steps("step_time", "step time", tuple(20 + w for w in wait), "p"),
        of_steps("step_part", "compute", (14.0,) * 9),
        of_steps("step_part", "collectives", (6.0,) * 9),
        of_steps("step_part", "input wait", wait),
        Series(
            kind="memory", name="host-0 device 0", x_unit="ms", unit="bytes", source="profile",
            x=(0.0, 5.0, 9.0, 40.0), y=(2 * gib, 9 * gib, 14.2 * gib, 6 * gib), limit=15.75 * gib,
        ),
        Series(
            kind="roofline", name="operations", x_unit="FLOPs a byte", unit="TFLOP/s",
            x=(0.5, 40.0, 900.0), y=(0.3, 21.0, 160.0), limit=197.0, limit_per_x=0.819,
            labels=("copy <b>.1", "fusion.2", "convolution.3"), source="profile",
        ),
        *(
            of_steps("replica_step", name, tuple(14 + late + i % 3 for i in range(9)))
            for name, late in hosts.items()
        ),
    )  # fmt: skip


def _plots() -> Report:
    """Everything that a plot can show, rows enough to be searched, and source lines."""
    plan = Table(
        "Plan",
        ("TPU", "batch", "fits", "GiB", "ex/s/chip", "note"),
        (
            ("v5e-8", 64, "yes", 7.8, 1610.0, ""),
            ("v5e-8", 128, "recomputes", 15.2, 2050.0, "best"),
            ("v5e-8", 256, "no", 30.1, "", ""),
            ("v5e-8", 512, "unknown", "", "", "not asked"),
            ("v6e-8", 32, "yes", 4.1, 1875.0, ""),
            ("v6e-8", 64, "yes", 7.9, 3000.0, ""),
            ("v6e-8", 128, "yes", 15.3, 4125.0, ""),
            ("v6e-8", 256, "yes", 30.2, 4938.0, "best"),
            ("v6e-8", 512, "no", 60.3, "", ""),
        ),
        "TPU compiler",
    )
    rows = tuple(
        PlanRow(
            target=str(target), batch_per_replica=int(batch), best=note == "best",
            fits={"yes": True, "recomputes": True, "no": False, "unknown": None}[str(fits)],
            recomputes=fits == "recomputes", hbm_need_bytes=int(float(gib or 0) * 2**30) or None,
            examples_per_second_per_chip=float(rate) if rate else None,
        )
        for target, batch, fits, gib, rate, note in plan.rows
    )  # fmt: skip
    lines = (
        "strategy = tf.distribute.TPUStrategy(resolver)",
        "",
        "dataset = tf.data.TFRecordDataset(files).map(parse).batch(1024)",
        "for batch in dataset:",
        "    train_step(batch)",
        "    if <b> & 'x':",
        "",
    )
    return replace(
        _each_severity(),
        series=_series(),
        excerpts=(Excerpt("train.py", 38, lines),),
        tables=(plan,),
        plan=rows,
        predictions=(
            StepPrediction(
                target="v5e-8", batch_per_replica=128, replicas=8, compiler="libtpu 1.2",
                step_ms=12.0, low_ms=10.0, high_ms=15.5, bound_by="MXU",
                split_ms={"MXU": 8.0, "HBM": 3.5, "ICI": 0.5},
            ),
        ),
    )  # fmt: skip


SPECIMENS = {
    "healthy": report(PASSED, PRECISION),
    "all-skipped": report(*SKIPPED),
    "each-severity": _each_severity(),
    "broken": report(PASSED, BROKEN, SKIPPED[0]),
    "crashed": replace(
        report(PASSED, *SKIPPED),
        partial="the job ended with exit code 1 at step 7",
        notes=(),
        crash=CRASH,
    ),
    "empty": made.report(subject=Subject("trainer", "localhost:6009")),
    "profile": _profile(),
    "hostile": _hostile(),
    "long": _long(),
    "plots": _plots(),
}


@pytest.fixture(params=SPECIMENS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def specimen(name: str) -> Report:
    return SPECIMENS[name]


@pytest.fixture
def specimens() -> dict[str, Report]:
    return SPECIMENS


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A colour terminal of 80 columns, whatever the tests run in."""
    for variable in set(os.environ) & {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"}:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "")
