"""How long each format takes for 2,000 outcomes: `python tests/benchmarks/bench_render.py`.

Half of the outcomes failed, with two findings each; ids are those of real checks, so that their
explanations are part of it. Each format in a process of its own, its imports included.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tpudiag.catalogue import checks, renderer, renderer_names
from tpudiag.model import (
    Evidence,
    Finding,
    Location,
    Outcome,
    Report,
    Subject,
    TargetSummary,
    Verdict,
)

OUTCOMES = 2000


def report() -> Report:
    """2,000 outcomes of every verdict."""
    evidence = tuple(Evidence(f"figure {i}", 12.5 * i, "ms", 20.0) for i in range(3))
    findings = tuple(
        Finding(
            "The step waits for input.\nAll replicas stand idle.",
            "dataset.prefetch(2)\n" * 3,
            evidence,
            Location("train.py", line),
            cost_ms_per_step=1.5,
        )
        for line in (12, 345)
    )
    outcomes: list[Outcome] = []
    for index in range(OUTCOMES):
        check = checks()[index % len(checks())]
        verdict = list(Verdict)[index // 2 % 4] if index % 2 else Verdict.FAILED
        outcomes.append(
            Outcome(
                id=check.id,
                name=check.name,
                verdict=verdict,
                severity=check.severity,
                reason="a reason",
                how_to_measure="how to measure",
                findings=findings if verdict is Verdict.FAILED else (),
                evidence=evidence,
            )
        )
    return Report(
        subject=Subject("job", "train.py"),
        target=TargetSummary("v5e-8", 8),
        started="2026-01-02T03:04:05Z",
        outcomes=tuple(outcomes),
    )


def main() -> None:
    """Print seconds and size of each format."""
    if len(sys.argv) > 1:
        made = report()
        started = time.perf_counter()
        text = renderer(sys.argv[1])(made)
        print(f"{sys.argv[1]:<10} {time.perf_counter() - started:6.2f} s {len(text) / 1e6:6.2f} MB")
        return
    for name in renderer_names():
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main()
