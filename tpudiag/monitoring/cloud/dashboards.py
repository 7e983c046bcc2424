"""A dashboard of a job: the figures of `tpudiag watch --project`, as charts in PromQL."""

from collections.abc import Iterator

from tpudiag.monitoring.cloud.connection import Service, call, client
from tpudiag.monitoring.cloud.policies import JOB, MANAGED_BY, PROMQL, Json, selector, slug
from tpudiag.monitoring.cloud.reconcile import Change, MessageKind, reconciled
from tpudiag.monitoring.cloud.sender import ALERT

DASHBOARD = MessageKind("google.cloud.monitoring_dashboard_v1", "Dashboard")
ID = "dashboard"
CHARTS = (
    ("Throughput", ("examples_per_second", "steps_per_second")),
    ("Throughput over the job's own baseline", ("baseline_ratio",)),
    ("Step time, ms", ("step_time_p50_ms", "step_time_p90_ms", "step_time_p99_ms")),
    ("Share of the step that waits for input", ("input_wait_share",)),
    ("HBM in use, share", ("hbm_used_share",)),
    ("Seconds since the last step", ("silent_seconds",)),
    ("Checks that fail", ("alert",)),
)
OF_ALERT = " ${metric.labels.check} ${metric.labels.cause}"
COLUMNS, WIDTH, HEIGHT = 2, 24, 16


def as_json(job: str) -> Json:
    """The dashboard as the API's JSON."""
    return {
        "displayName": f"tpudiag {job}",
        "labels": {MANAGED_BY: "tpudiag", JOB: slug(job)},
        "mosaicLayout": {
            "columns": COLUMNS * WIDTH,
            "tiles": [_tile(number, job) for number in range(len(CHARTS))],
        },
    }


def _tile(number: int, job: str) -> Json:
    """One chart; a position of 0 is not written, as the API leaves it out."""
    title, metrics = CHARTS[number]
    row, column = divmod(number, COLUMNS)
    place = {"xPos": column * WIDTH, "yPos": row * HEIGHT}
    where = selector(job)
    sets = [
        {
            "plotType": "LINE",
            "legendTemplate": f"{name}{OF_ALERT if name == ALERT else ''} "
            "${metric.labels.worker}",
            "timeSeriesQuery": {"prometheusQuery": f"{PROMQL}{name}{where}"},
        }
        for name in metrics
    ]
    return {
        **{name: value for name, value in place.items() if value},
        "width": WIDTH,
        "height": HEIGHT,
        "widget": {"title": title, "xyChart": {"dataSets": sets}},
    }


def merged_board(before: Json, made: Json) -> Json:
    """What is there with our charts in it; charts that people added, and their layout, stay."""
    labels = {**before.get("labels", {}), **made["labels"]}
    merged = {**before, "displayName": made["displayName"], "labels": labels}
    # Somebody chose another layout: its charts are theirs, and only the name and our labels are
    # set.
    if "mosaicLayout" not in before:
        return merged
    ours = {tile["widget"]["title"]: tile for tile in made["mosaicLayout"]["tiles"]}
    tiles: list[Json] = []
    for tile in before["mosaicLayout"].get("tiles", []):
        mine = ours.pop(tile.get("widget", {}).get("title"), None)
        tiles.append(tile if mine is None else {**tile, "widget": mine["widget"]})
    # New charts go below all others: between those that people laid out there may be no room.
    below = max((tile.get("yPos", 0) + tile.get("height", 0) for tile in tiles), default=0)
    tiles += [{**tile, "yPos": tile.get("yPos", 0) + below} for tile in ours.values()]
    return {**merged, "mosaicLayout": {**before["mosaicLayout"], "tiles": tiles}}


class Dashboards:
    """Our dashboards of a project; every call raises CloudError in one line."""

    def __init__(self, project: str, endpoint: str | None) -> None:
        self._project = f"projects/{project}"
        self._client = client(Service.DASHBOARDS, endpoint)

    def apply(self, job: str, *, dry_run: bool) -> Iterator[Change]:
        """Create or update the dashboard of a job."""
        create, update = self._client.create_dashboard, self._client.update_dashboard
        parent = {"parent": self._project}
        yield reconciled(
            DASHBOARD, ID, as_json(job), next(iter(self._kept(job)), None),
            merge=merged_board, dry_run=dry_run,
            create=lambda new: call(self._project, create, request=parent | {"dashboard": new}),
            update=lambda new: call(self._project, update, request={"dashboard": new}),
        )  # fmt: skip

    def delete(self, job: str, *, dry_run: bool) -> Iterator[Change]:
        """Delete the dashboard of a job."""
        for board in self._kept(job):
            name = str(board["name"])
            if not dry_run:
                call(self._project, self._client.delete_dashboard, request={"name": name})
            yield Change("delete", ID, name)

    def _kept(self, job: str) -> list[Json]:
        listed = call(
            self._project, self._client.list_dashboards, request={"parent": self._project}
        )
        wanted = {MANAGED_BY: "tpudiag", JOB: slug(job)}
        return [
            DASHBOARD.json(board)
            for board in listed
            if all(board.labels.get(key) == value for key, value in wanted.items())
        ]
