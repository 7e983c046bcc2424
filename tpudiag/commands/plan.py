"""tpudiag plan: recommend a TPU and a batch by the TPU compiler, without a TPU."""

import argparse

from tpudiag.commands import _job_request, _report
from tpudiag.commands._progress import progress

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


def run(options: argparse.Namespace) -> int:
    """Compile the job's step for every TPU and batch, and write the plan."""
    from tpudiag.diagnoses import plan

    settings = _report.settings_for(options)
    wanted = plan.requested(vars(options), lambda target: _job_request.of(options, target))
    with progress() as on_phase:
        report = plan.diagnose(wanted, settings, on_phase)
    return _report.emit(report, options)
