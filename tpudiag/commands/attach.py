"""Captures a profile of running trainers of TensorFlow or JAX over their profiler service.

Keeps it as a TensorBoard log, and reports on it as `read` does.
"""

import argparse
import os

from tpudiag.commands._job_request import selection
from tpudiag.commands._progress import progress
from tpudiag.commands._report import beside_profile, emit, settings_for
from tpudiag.errors import UsageError
from tpudiag.options.verbs import request_of

EPILOG = """\
examples:
  tpudiag attach                          list the trainers on this machine
  tpudiag attach localhost:6009           capture 2 s and report on the profile
  tpudiag attach 4711                     the same by pid; host stacks if it has no server
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
while others did; 2 usage error, or no trainer gave one (one line each says why).
"""


def run(options: argparse.Namespace) -> int:
    """List, or capture and report; raises UsageError, NothingDiagnosed and UnreadableInput."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # we report its errors ourselves
    if options.tpu is None and (options.project or options.zone):
        raise UsageError("--project and --zone tell where a TPU is; name it with --tpu")
    pods = selection(options)
    if not options.targets and options.tpu is None and pods is None:
        from tpudiag.commands._trainer_list import list_trainers

        return list_trainers(options)
    settings = settings_for(options)
    from tpudiag.diagnoses import trainer
    from tpudiag.sources.live.capture import CaptureRequest

    capture = CaptureRequest(options.duration_s, options.timeout_s)
    request = request_of(trainer.TrainerRequest, vars(options), capture=capture, selection=pods)
    with progress(quiet_off_terminal=True) as on_phase:
        report = trainer.diagnose(request, settings, on_phase)
    code = emit(report, options)
    if report.profile_folder is not None:
        beside_profile(report, report.profile_folder)
    return code
