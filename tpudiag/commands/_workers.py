"""A job's workers by a label selector of the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudiag.errors import UsageError

if TYPE_CHECKING:
    from tpudiag.sources.live.pods import Selection


def selection(options: argparse.Namespace) -> Selection | None:
    """The requested pods; raises UsageError."""
    if options.selector is None:
        if options.namespace or options.context:
            raise UsageError("--namespace and --context tell where pods are; name --selector")
        return None
    from tpudiag.sources.live.pods import Selection

    return Selection(options.selector, options.namespace, options.context)
