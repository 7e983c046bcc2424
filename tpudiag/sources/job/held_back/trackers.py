"""Experiment trackers: kept on this machine by their own documented switches."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from tpudiag.signals import SendKind
from tpudiag.sources.job.points import Call, Kwargs, Library, Watches, hooks, table
from tpudiag.sources.job.points.point import Point


@dataclass(frozen=True)
class Tracker:
    """A tracker, by the module that is imported."""

    module: str
    source: str
    """The documentation of its switch."""
    variables: dict[str, str] = field(default_factory=dict[str, str])
    """Variables that keep it offline."""
    begins: Point | None = None
    """The calls that begin a run."""
    given: Kwargs = field(default_factory=Kwargs)
    """Arguments of those calls that override the variables, where the script passes them."""
    addresses: tuple[str, ...] = ()
    """Variables that name its server: set to a folder instead."""
    addressed: Point | None = None
    """Calls that do so."""


TRACKERS = (
    Tracker(
        "wandb", "https://docs.wandb.ai/support/run_wandb_offline/",
        {"WANDB_MODE": "offline"}, table.WANDB_RUN, {"mode": "offline"},
    ),
    Tracker(
        "mlflow", "https://www.mlflow.org/docs/latest/tracking.html",
        {"MLFLOW_ALLOW_FILE_STORE": "true"}, table.MLFLOW_RUN,
        addresses=("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI"),
        addressed=table.MLFLOW_ADDRESSED,
    ),
    Tracker(
        "comet_ml", "https://comet.com/docs/v2/api-and-sdk/python-sdk/advanced/running-offline",
        {"COMET_START_ONLINE": "0"}, table.COMET_RUN, {"online": False},
    ),
    Tracker(
        "neptune", "https://docs.neptune.ai/logging/offline",
        {"NEPTUNE_MODE": "offline"}, table.NEPTUNE_RUN, {"mode": "offline"},
    ),
    Tracker(
        "neptune_scale", "https://docs.neptune.ai/environment_variables",
        {"NEPTUNE_MODE": "offline"}, table.NEPTUNE_SCALE_RUN, {"mode": "offline"},
    ),
    Tracker(
        "clearml", "https://clear.ml/docs/latest/docs/guides/set_offline",
        {"CLEARML_OFFLINE_MODE": "1"}, table.CLEARML_RUN,
    ),
    Tracker(
        "swanlab", "https://docs.swanlab.cn/en/api/cli-swanlab-offline.html",
        {"SWANLAB_MODE": "offline"}, table.SWANLAB_RUN, {"mode": "offline"},
    ),
    Tracker(
        "polyaxon", "https://polyaxon.com/docs/experimentation/tracking/offline-mode/",
        {"POLYAXON_IS_OFFLINE": "true"},
    ),
    Tracker(
        "dvclive", "https://dvc.org/doc/user-guide/project-structure/configuration",
        {"DVC_STUDIO_OFFLINE": "true"}, table.DVCLIVE_RUN,
    ),
)  # fmt: skip
"""Those that send by themselves. Others use HTTP alone (aim, sacred), where they are held back."""


class Trackers:
    """The switches, and the hooks on what begins a run."""

    def __init__(self, note: Callable[[SendKind, str], None], folder: str) -> None:
        """`folder`: for the runs of trackers with a configurable folder."""
        self._note, self._folder = note, folder
        for each in TRACKERS:
            os.environ.update(each.variables)
            for name in each.addresses:
                if _is_remote(os.environ.get(name, "")):
                    os.environ[name] = self._kept(each)

    def by_module(self) -> Watches:
        """The hooks by the module whose import triggers them."""
        return {each.module: partial(self._watch, each) for each in TRACKERS}

    def _kept(self, tracker: Tracker) -> str:
        return f"file://{self._folder}/{tracker.module}"

    def _watch(self, tracker: Tracker, module: Library) -> None:
        """Note begun runs, and keep a script from enabling its tracker again."""

        def begun(original: Call, *args: object, **kwargs: object) -> object:
            overridden = {name: tracker.given[name] for name in tracker.given if name in kwargs}
            if kwargs.get("mode") != "disabled":
                self._note(SendKind.RUN, tracker.module)
                kwargs.update(overridden)
            return original(*args, **kwargs)

        def addressed(original: Call, address: object, *args: object, **kwargs: object) -> object:
            remote = _is_remote(str(address))
            return original(self._kept(tracker) if remote else address, *args, **kwargs)

        for row, call in ((tracker.begins, begun), (tracker.addressed, addressed)):
            if row is not None:
                hooks.around(row, call, module, hooks.always)


def _is_remote(address: str) -> bool:
    return urlsplit(address).scheme not in ("", "file", "sqlite") or address == "databricks"
