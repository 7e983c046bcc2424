from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tests.sources.profile.spaces import outcomes, report
from tpudiag.diagnoses.profile_operations import groups, short_name
from tpudiag.model import Report, Severity, Verdict
from tpudiag.report_figures import Table
from tpudiag.sources.profile import facts

DOT = "jit(train_step)/jit(main)/jvp(Model)/decoder/mlp/wo/dot_general[dims=((1,), (0,))]:"
FLOPS = 918 * 10**9
"""Of one ms at the peak of a v6e."""


@pytest.fixture
def made() -> Any:
    """Two duplicates at half the peak, one of them recomputed, and a slow collective."""
    space = spaces.space("vm")
    about: dict[str, dict[str, Any]] = {
        "fusion.1": {"flops": FLOPS, "bytes_accessed": 10**6, "tf_op": DOT, "source": "a/net.py:7"},
        "fusion.2": {
            "flops": FLOPS,
            "bytes_accessed": 10**6,
            "deduplicated_name": "fusion.1",
            "tf_op": DOT.replace("decoder", "rematted_computation/decoder"),
        },
        "async-collective-done.3": {"flops": 0, "bytes_accessed": 4096},
    }
    ops = [(f"fusion.{number}", "convolution fusion", 2.0) for number in (1, 2)]
    ops.append(("async-collective-done.3", "custom fusion", 6.0))
    spans = [(50.0 + 10 * number, 10.0) for number in range(10)]
    spaces.add_steps(space, 0, spans, ops, "jit_train_step", about=about)
    spaces.add_program(space, "jit_train_step", {"fusion.1": 875_000, "fusion.2": 3_500_000})
    return space


def table(found: Report, title: str) -> Table:
    return next(table for table in found.tables if table.title.startswith(title))


def test_duplicates_are_one_row(made: Any, tmp_path: Path) -> None:
    found = report(spaces.write(made, tmp_path))
    first, second = table(found, "Operations").rows
    assert first[0] == "async-collective-done.3"
    assert first[6] == "collectives"
    assert second[:5] == ("fusion.1 x2", 40.0, 40.0, 20, 50.0)
    assert second[6:] == ("compute", "…/mlp/wo/dot_general, net.py:7")
    assert [t.title for t in found.tables][:2] == ["Where the step time goes", "Operations"]


def test_the_compilers_estimate_beside_what_it_took(made: Any, tmp_path: Path) -> None:
    file = spaces.write(made, tmp_path)
    group = next(g for g in groups(facts(file)[0]) if g.name == "fusion.1")
    assert group.expected_ms == pytest.approx(10 * (0.5 + 2.0))
    assert group.measured_ms == pytest.approx(40.0)
    assert not any(t.title.startswith("Operations far slower") for t in report(file).tables)
    spaces.add_program(made, "jit_train_step", {"fusion.1": 875_000, "fusion.2": 875_000})
    (slow,) = table(report(spaces.write(made, tmp_path)), "Operations far slower").rows
    assert slow[0] == "fusion.1 (convolution fusion)"
    assert slow[3] == pytest.approx(4.0)


def test_what_the_job_recomputes_is_information(made: Any, tmp_path: Path) -> None:
    found = outcomes(spaces.write(made, tmp_path))["TPU303"]
    assert found.verdict is Verdict.FAILED
    assert found.severity is Severity.INFO
    assert "20% of the devices' time" in found.findings[0].message
    assert "as the job asks for" in found.findings[0].message


def test_a_jax_profile_has_the_fixes_of_jax(made: Any, tmp_path: Path) -> None:
    fixes = [f.fix for o in report(spaces.write(made, tmp_path)).outcomes for f in o.findings]
    assert any("jax.checkpoint(block)" in fix for fix in fixes)
    assert not any("tf." in fix for fix in fixes)


def test_a_roofline_is_drawn_from_the_operations(made: Any, tmp_path: Path) -> None:
    (roofline,) = (s for s in report(spaces.write(made, tmp_path)).series if s.kind == "roofline")
    assert roofline.limit == 918.0
    assert roofline.y == pytest.approx([459.0, 459.0])
    assert roofline.x == pytest.approx([FLOPS / 10**6] * 2)


@pytest.mark.parametrize(
    ("path", "short"),
    [
        (DOT, "…/mlp/wo/dot_general"),
        ("model/dense_1/MatMul:MatMul", "model/dense_1/MatMul"),
        ("MatMul", "MatMul"),
        ("", ""),
    ],
)
def test_short_names(path: str, short: str) -> None:
    assert short_name(path) == short
