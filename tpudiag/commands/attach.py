"""`tpudiag attach`: a profile of trainers that are running, and what it says."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from tpudiag.commands._durations import duration
from tpudiag.commands._progress import progress
from tpudiag.commands._report import (
    Verbs,
    add_report_options,
    beside_profile,
    check_outputs,
    emit,
    settings_for,
)
from tpudiag.commands._worker_options import add_kubernetes_options, add_port_option, selection
from tpudiag.commands.read import add_xprof_option
from tpudiag.errors import UsageError

if TYPE_CHECKING:
    from tpudiag.sources.live.capture import CaptureRequest

EPILOG = """\
examples:
  tpudiag attach                          list the trainers on this machine
  tpudiag attach localhost:6009           capture 2 s and say what the profile holds
  tpudiag attach 4711                     the same by pid; host stacks where it has no server
  tpudiag attach host-0:6009,host-1:6009  many hosts at once, started together
  tpudiag attach --tpu my-tpu --zone us-central2-b
  tpudiag attach --selector job-name=bert all pods of a job on GKE

The trainer needs one line, at its start:
  tf.profiler.experimental.server.start(6009)      TensorFlow
  jax.profiler.start_server(6009)                  JAX
It listens on all interfaces and asks for no password: close the port to strangers. While a capture
runs, tf.profiler.experimental.start in the trainer (a TensorBoard callback) fails.

A port gets 5 s to answer. Trainers with TensorFlow before 2.21 (all of tensorflow-tpu) write the
profile themselves: on other machines give a --log-dir that both see, gs://bucket/logs.

exit codes: 0 nothing at or above --fail-on failed; 1 something did, or a trainer gave no profile
while others did; 2 usage error, or no trainer gave one (one line for each says why).
"""
HELD = ": the trainer holds the whole profile in memory"
MOST_CAPTURE_S, MOST_S = 30.0, 600.0
"""A trainer holds up to 56 times its profile's size while it gathers it: see capture_size."""


def add_parser(verbs: Verbs) -> None:
    """The options of `attach`."""
    parser = verbs.add_parser(
        "attach",
        help="capture a profile of running trainers and say what it holds",
        description="Captures a profile of running trainers of TensorFlow or JAX over their "
        "profiler service, keeps it as a TensorBoard log, and reports on it as `read` does.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "targets",
        metavar="ADDRESS|PID",
        nargs="*",
        help="HOST:PORT (several by comma) or the pid of a trainer or its launcher; default: list "
        "the trainers on this machine",
    )
    parser.add_argument(
        "--duration",
        metavar="TIME",
        type=duration(most_s=MOST_CAPTURE_S, why=HELD),
        default=2.0,
        help="how long to capture, up to 30s: 2s, 500ms (default: 2s); the trainer's memory and "
        "the pause at the end grow with it",
    )
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=duration(most_s=MOST_S),
        default=60.0,
        help="how long the trainers may take to send the profile after that (default: 60s)",
    )
    parser.add_argument(
        "--force", action="store_true", help="capture although it could crash or fill the trainer"
    )
    _add_cloud_options(parser)
    add_port_option(parser)
    add_kubernetes_options(parser)
    parser.add_argument(
        "--log-dir",
        metavar="DIR",
        default="tpudiag-logs/attach",
        help="the TensorBoard log folder for the profile, local or gs://; trainers with TensorFlow "
        "before 2.21 write into it themselves (default: %(default)s)",
    )
    add_xprof_option(parser)
    add_report_options(parser)
    parser.set_defaults(run=run)


def _add_cloud_options(parser: argparse.ArgumentParser) -> None:
    """A TPU whose workers are looked up."""
    cloud = parser.add_argument_group("Cloud TPU")
    cloud.add_argument(
        "--tpu",
        metavar="NAME",
        help="ask the Cloud TPU API for this TPU's state, and attach to all its workers",
    )
    cloud.add_argument(
        "--project", metavar="PROJECT", help="its project (default: that of the credentials)"
    )
    cloud.add_argument("--zone", metavar="ZONE", help="its zone (default: looked for in all)")


def run(options: argparse.Namespace) -> int:
    """List, or capture and report; raises UsageError, NothingDiagnosed and UnreadableInput."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what it has to say, we say
    if options.tpu is None and (options.project or options.zone):
        raise UsageError("--project and --zone tell where a TPU is; name it with --tpu")
    pods = selection(options)
    if not options.targets and options.tpu is None and pods is None:
        from tpudiag.commands._trainer_list import list_trainers

        return list_trainers(options)
    check_outputs(options)
    settings = settings_for(options)
    from tpudiag.diagnoses import trainer

    request = trainer.TrainerRequest(
        targets=tuple(options.targets),
        capture=_capture(options),
        log_dir=options.log_dir,
        tpu=options.tpu,
        project=options.project,
        zone=options.zone,
        port=options.port,
        selection=pods,
        xprof_limit_s=options.xprof_limit,
        force=options.force,
    )
    with progress(quiet_off_terminal=True) as on_phase:
        report = trainer.diagnose(request, settings, on_phase)
    code = emit(report, options)
    if report.profile_folder is not None:
        beside_profile(report, report.profile_folder)
    return code


def _capture(options: argparse.Namespace) -> CaptureRequest:
    """How to capture."""
    from tpudiag.sources.live.capture import CaptureRequest

    return CaptureRequest(options.duration, options.timeout)
