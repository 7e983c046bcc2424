"""Experiment trackers: told to stay on this machine, by their own documented switches."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from tpudiag.signals import SendKind
from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.points.point import point


@dataclass(frozen=True)
class Tracker:
    """A tracker, by the module that is imported."""

    module: str
    source: str
    """Where its switch is documented."""
    variables: dict[str, str] = field(default_factory=dict[str, str])
    """What keeps it offline."""
    begins: tuple[str, ...] = ()
    """The calls that begin a run."""
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of those calls that win over the variables, where the script gives them itself."""
    addresses: tuple[str, ...] = ()
    """Variables and calls that name its server: a folder is named in its place."""


TRACKERS = (
    Tracker(
        "wandb", "https://docs.wandb.ai/support/run_wandb_offline/",
        {"WANDB_MODE": "offline"}, ("init",), {"mode": "offline"},
    ),
    Tracker(
        "mlflow", "https://www.mlflow.org/docs/latest/tracking.html",
        {"MLFLOW_ALLOW_FILE_STORE": "true"}, ("start_run",),
        addresses=("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI", "set_tracking_uri",
                   "set_registry_uri"),
    ),
    Tracker(
        "comet_ml", "https://comet.com/docs/v2/api-and-sdk/python-sdk/advanced/running-offline",
        {"COMET_START_ONLINE": "0"}, ("start",), {"online": False},
    ),
    Tracker(
        "neptune", "https://docs.neptune.ai/logging/offline",
        {"NEPTUNE_MODE": "offline"}, ("init_run", "init_model"), {"mode": "offline"},
    ),
    Tracker(
        "neptune_scale", "https://docs.neptune.ai/environment_variables",
        {"NEPTUNE_MODE": "offline"}, ("Run",), {"mode": "offline"},
    ),
    Tracker(
        "clearml", "https://clear.ml/docs/latest/docs/guides/set_offline",
        {"CLEARML_OFFLINE_MODE": "1"}, ("Task.init",),
    ),
    Tracker(
        "swanlab", "https://docs.swanlab.cn/en/api/cli-swanlab-offline.html",
        {"SWANLAB_MODE": "offline"}, ("init",), {"mode": "offline"},
    ),
    Tracker(
        "polyaxon", "https://polyaxon.com/docs/experimentation/tracking/offline-mode/",
        {"POLYAXON_IS_OFFLINE": "true"},
    ),
    Tracker(
        "dvclive", "https://dvc.org/doc/user-guide/project-structure/configuration",
        {"DVC_STUDIO_OFFLINE": "true"}, ("Live",),
    ),
)  # fmt: skip
"""Those that send by themselves. Others go by HTTP alone (aim, sacred), and are held back there."""


class Trackers:
    """The switches, and the hooks on what begins a run."""

    def __init__(self, note: Callable[[SendKind, str], None], folder: str) -> None:
        """`folder`: for the runs of trackers that are told where to keep them."""
        self._note, self._folder = note, folder
        for each in TRACKERS:
            os.environ.update(each.variables)
            for name in each.addresses:
                if name.isupper() and _is_remote(os.environ.get(name, "")):
                    os.environ[name] = self._kept(each)

    def by_module(self) -> dict[str, Callable[[Any], None]]:
        """What is to be told of the import of which module."""
        return {each.module: partial(self._watch, each) for each in TRACKERS}

    def _kept(self, tracker: Tracker) -> str:
        return f"file://{self._folder}/{tracker.module}"

    def _watch(self, tracker: Tracker, module: Any) -> None:
        """Note the runs that begin, and keep a script from switching its tracker on again."""

        def begun(original: Any, *args: Any, **kwargs: Any) -> Any:
            overridden = {name: tracker.given[name] for name in tracker.given if name in kwargs}
            if kwargs.get("mode") != "disabled":
                self._note(SendKind.RUN, tracker.module)
                kwargs.update(overridden)
            return original(*args, **kwargs)

        def addressed(original: Any, address: Any, *args: Any, **kwargs: Any) -> Any:
            remote = _is_remote(str(address))
            return original(self._kept(tracker) if remote else address, *args, **kwargs)

        calls = [(name, begun) for name in tracker.begins]
        calls += [(name, addressed) for name in tracker.addresses if not name.isupper()]
        for name, call in calls:
            *owners, last = name.split(".")
            owner = module
            for each in owners:
                owner = getattr(owner, each, None)
            if isinstance(getattr(owner, last, None), type):
                owner, last = getattr(owner, last), "__init__"
            hooks.around(point("", last, "a run begins"), call, owner, hooks.always)


def _is_remote(address: str) -> bool:
    """Whether an address is that of a server."""
    return urlsplit(address).scheme not in ("", "file", "sqlite") or address == "databricks"
