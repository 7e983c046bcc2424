"""tpudiag plan: which TPU and which batch, by the TPU compiler's word, with no TPU."""

from __future__ import annotations

import argparse

from tpudiag.commands import _job_request, _report
from tpudiag.commands._parser import Verb
from tpudiag.commands._progress import progress
from tpudiag.errors import UsageError

EPILOG = """\
The script runs up to its first training step, which is lowered and compiled for each TPU and
batch instead of being run. Needs the extra `compiler` (jax and libtpu) or --compiler-python.

examples:
  tpudiag plan --for v5e-8,v6e-8 --batch 64..1024
  tpudiag plan train.py --for v4-8,v5e-8,v5p-8,v6e-8 -- --epochs 1
  tpudiag plan train.py --for v5e-8 --batch 128,256,384 --cost prices.toml
  tpudiag plan train.py --for v4-8,v5e-8,v6e-8 --dask tcp://scheduler:8786
  tpudiag plan train.py --for v5e-16,v5e-64 --examples 1281167 --epochs 90 --cost prices.toml

prices.toml, the price of a chip-hour by generation:
  [chip_hour]
  v5e = 1.20
"""


VERB = Verb(
    help="which TPU and which batch, by the TPU compiler's word",
    description=__doc__,
    epilog=EPILOG,
)


def run(options: argparse.Namespace) -> int:
    """Compile the job's step for every TPU and batch, and write the plan."""
    from tpudiag import hardware
    from tpudiag.diagnoses import plan
    from tpudiag.planning import prices

    _report.check_outputs(options)
    targets = tuple(hardware.sold_target(name) for name in dict.fromkeys(options.targets))
    if not targets:
        raise UsageError("--for: name at least one TPU, e.g. v5e-8")
    examples = _examples(options)
    known = prices.load(options.cost) if options.cost is not None else {}
    # The job is started once: the step is lowered for any number of replicas.
    options.target = targets[0].name
    request = _job_request.of(options)
    installed = plan.installed_compiler(options.compiler_python, options.dask)
    wanted = plan.PlanRequest(
        job=plan.up_to_its_step(request),
        installed=installed,
        targets=targets,
        batches=tuple(options.batch),
        prices=known,
        examples=examples,
        epochs=options.epochs or 1,
        timeout_s=options.timeout_s,
        compile_timeout_s=options.compile_timeout_s,
        dask=options.dask,
    )
    with progress() as on_phase:
        report = plan.diagnose(wanted, _report.settings_for(options), on_phase)
    return _report.emit(report, options)


def _examples(options: argparse.Namespace) -> float | None:
    """The examples of the whole training; UsageError where only the epochs are known."""
    if options.examples is None and options.epochs is not None:
        raise UsageError("--epochs: say with --examples how many examples the data set has")
    return None if options.examples is None else options.examples * (options.epochs or 1)
