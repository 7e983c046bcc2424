"""The manifest of the GKE page: YAML whose command lines the parser takes, and whose parts fit."""

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

from tpudiag.commands._parser import build_parser
from tpudiag.monitoring.training import DEFAULT_PATH

yaml: Any = import_module("yaml")

PAGE = Path(__file__).parents[1] / "docs" / "gke.md"
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
DOCUMENTS: list[dict[str, Any]] = [
    document for block in BLOCKS for document in yaml.safe_load_all(block)
]


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [document for document in DOCUMENTS if document["kind"] == kind]
    return found


def test_the_sidecar_watches_what_the_trainer_writes() -> None:
    template = of_kind("Job")["spec"]["template"]
    (sidecar,), (trainer,) = (template["spec"][key] for key in ("initContainers", "containers"))
    command = sidecar["args"][0].partition(" exec ")[2]
    options = build_parser().parse_args(shlex.split(command)[1:])
    mounts = {mount["mountPath"] for mount in sidecar["volumeMounts"]}
    assert mounts == {mount["mountPath"] for mount in trainer["volumeMounts"]} == {"/recordings"}
    assert options.sources == [str(trainer["workingDir"] / DEFAULT_PATH.parent)]
    assert (options.verb, options.project, options.job) == ("watch", None, "bert")
    (port,) = sidecar["ports"]
    assert options.prometheus.endswith(f":{port['containerPort']}")
    monitoring = of_kind("PodMonitoring")["spec"]
    assert monitoring["endpoints"][0]["port"] == port["name"]
    labels = template["metadata"]["labels"]
    assert monitoring["selector"]["matchLabels"].items() <= labels.items()
    assert sidecar["restartPolicy"] == "Always", "a sidecar, which ends with the trainer"


def test_the_role_lists_pods_and_nothing_else() -> None:
    assert of_kind("Role")["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    ]
