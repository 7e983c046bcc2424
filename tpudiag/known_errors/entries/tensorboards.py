# ruff: noqa: E501  (texts of other programs stay as they are)
"""TensorBoard, its profile page, and Cloud Monitoring's refusals."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E250",
        family="profile-plugin",
        phase=Phase.WATCHING,
        patterns=(
            r"Failed to load plugin ProfilePluginLoader",
            r"cannot import name '\w{1,60}_pb2' from 'tensorboard_plugin_profile",
            r"No module named '?(?:tensorboard_plugin_profile|xprof)\b",
            r"No profile data was found",
            r"Duplicate plugins for name (?P<name>\w{1,40})",
            r"The profile plugin (?:has moved|is no longer)",
        ),
        cause="TensorBoard's profile page does not load or sees no profile: the plugin is missing, was generated for another protobuf, is installed twice (tensorboard and tb-nightly), or --logdir does not lead to a folder with plugins/profile.",
        details=("The plugin is {name}.",),
        fix="""\
pip uninstall -y tensorboard tb-nightly tensorboard-plugin-profile xprof
pip install -U tensorboard xprof                                   # one of each; xprof is the plugin's new name
find LOGDIR -name "*.xplane.pb"                                    # under plugins/profile/TIME/: --logdir is the folder above plugins
tpudiag read LOGDIR                                                 # reads the same profile without TensorBoard""",
        citations=(
            "openxla/xprof#609",
            "tensorflow/tensorboard#6338",
            "openxla/xprof#839",
        ),
        example="Failed to load plugin ProfilePluginLoader.load; ignoring it.",
        near_miss="Loaded plugin ProfilePluginLoader",
    ),
    KnownError(
        id="E251",
        family="port-in-use",
        phase=Phase.WATCHING,
        patterns=(
            r"Could not bind to port (?P<port>\d{2,5})",
            r"could not bind to port (?P<port>\d{2,5}), it was already in use",
            r"profiler_server.{0,160}?(?:Unable to start|[Ff]ailed to (?:start|bind)|already in use)",
            r"Failed to (?:bind|start).{0,60}?server.{0,80}?port (?P<port>\d{2,5})",
            r"Unable to start.{0,60}?server.{0,80}?port (?P<port>\d{2,5})",
            r"No address added out of total \d{1,3} resolved.{0,80}?(?::(?P<port>\d{2,5}))?",
            r"\[Errno 98\] Address already in use",
            r"bind \[?[\d.:a-f]{1,40}\]?:\d{1,5}: Address already in use",
        ),
        cause="The port is taken: an earlier TensorBoard, another trainer's profiler server, or a process that was not ended.",
        details=("The port is {port}.",),
        fix="""\
ss -ltnp | grep :PORT                                 # who holds it
tensorboard --logdir LOGDIR --port 0                  # any free port
tf.profiler.experimental.server.start(6010)           # one port for each trainer on a host""",
        evidence="recalled",
        example="ERROR: TensorBoard could not bind to port 6006, it was already in use",
    ),
    KnownError(
        id="E252",
        family="no-dashboards",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(r"No dashboards are active for the current data set",),
        cause="TensorBoard finds no event file under --logdir: another path, nothing written yet, or gs:// that it may not read.",
        fix="""\
find LOGDIR -name "*tfevents*"; gcloud storage ls -r gs://BUCKET/logs     # where are they
tensorboard --logdir gs://BUCKET/logs                                      # after gcloud auth application-default login""",
        evidence="recalled",
        example="No dashboards are active for the current data set.",
    ),
    KnownError(
        id="E253",
        family="monitoring-refused",
        phase=Phase.WATCHING,
        level="warning",
        kind=Kind.BROAD,
        patterns=(
            r"One or more TimeSeries could not be written: ?(?P<why>[^.\[:]{5,120})",
            r"Permission '?monitoring\.\w{3,40}\.\w{3,20}'? denied",
            r"Unrecognized metric labels",
            r"Points must be written in order",
            r"Field timeSeries\[\d{1,4}\].{0,120}?(?:invalid|unrecognized|had an invalid|must be)",
            r"monitoring\.timeSeries\.create",
            r"Duplicate TimeSeries encountered",
            r"(?:DeadlineExceeded|ServiceUnavailable|InternalServerError).{0,400}?create_time_series",
        ),
        cause="Cloud Monitoring did not take the points: older than one it has (two writers of one series, a clock that was set back), a label or type that the metric does not have, or an account without the role of a metric writer; or it was busy for a moment (500, 503, 504: send again).",
        details=("It says: {why}.",),
        fix="""\
gcloud projects add-iam-policy-binding PROJECT --member=serviceAccount:ACCOUNT --role=roles/monitoring.metricWriter
# one series for each worker: task_id or a label of its own; points in the order of time, at least 5 s apart
# labels or type changed: delete the metric descriptor, or give the metric a new name""",
        evidence="recalled",
        example="400 One or more TimeSeries could not be written: Points must be written in order. One or more of the points specified had an older end time than the most recent point.",
        near_miss="One or more points of the series are missing",
        yields_to=("E50",),
        rivals=(
            Rival(
                cause="points come too often, or two writers share a series",
                look_for="`more frequently`, `Only one point`",
                decide="how many processes write this metric with the same labels?",
                cues=(
                    r"more frequently",
                    r"Only one point",
                ),
                families=("metric-too-often",),
            ),
            Rival(
                cause="points are older than the last one",
                look_for="`in order`, `older end time`",
                decide="a clock that was set back, a late retry?",
                cues=(r"in order",),
                families=("monitoring-refused",),
            ),
            Rival(
                cause="the account has no right, or the API is off",
                look_for="403, PERMISSION_DENIED",
                decide="gcloud projects get-iam-policy PROJECT | grep -A3 metricWriter",
                cues=(
                    r"PERMISSION_DENIED",
                    r"denied \(or the",
                ),
                families=("account-rights",),
            ),
            Rival(
                cause="the service was busy",
                look_for="500, 503, 504, `internal error`",
                decide="the same points once more",
                cues=(r"internal error",),
                families=("monitoring-refused",),
            ),
        ),
    ),
)
