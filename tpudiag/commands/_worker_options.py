"""The options that name a job's workers: a Cloud TPU, or pods by a label selector."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudiag.errors import UsageError
from tpudiag.whole import whole

if TYPE_CHECKING:
    from tpudiag.sources.live.pods import Selection

PORT = 6009


def add_kubernetes_options(parser: argparse.ArgumentParser) -> None:
    """Where a job's pods are."""
    pods = parser.add_argument_group("Kubernetes (extra `gke`)")
    pods.add_argument(
        "--selector",
        metavar="LABELS",
        help="all pods with these labels, e.g. job-name=bert, by the kubeconfig or, in a pod, its "
        "service account",
    )
    pods.add_argument("--namespace", metavar="NAME", help="theirs (default: that of the context)")
    pods.add_argument("--context", metavar="NAME", help="the kubeconfig's (default: the current)")


def add_port_option(parser: argparse.ArgumentParser) -> None:
    """The profiler's port on workers that are looked up."""
    parser.add_argument(
        "--port",
        metavar="PORT",
        type=_port,
        default=PORT,
        help="the profiler's port on the workers of --tpu and --selector (default: %(default)s)",
    )


def selection(options: argparse.Namespace) -> Selection | None:
    """The pods that were asked for; raises UsageError."""
    if options.selector is None:
        if options.namespace or options.context:
            raise UsageError("--namespace and --context tell where pods are; name --selector")
        return None
    from tpudiag.sources.live.pods import Selection

    return Selection(options.selector, options.namespace, options.context)


def _port(text: str) -> int:
    """A port's number."""
    number = whole(text) or 0
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError("not the number of a port")
    return number
