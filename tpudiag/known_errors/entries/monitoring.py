# ruff: noqa: E501  (texts of other programs stay as they are)
"""Profiling and monitoring."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E43",
        family="no-step-marks",
        phase=Phase.WATCHING,
        level="info",
        patterns=(r"No step marker observed and hence the step time is unknown",),
        cause="The profile holds no step marks: Keras 3 fit sets none, or the capture was shorter than a step.",
        fix="""\
class StepMarks(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.trace = tf.profiler.experimental.Trace("train", step_num=batch, _r=1)
        self.trace.__enter__()
    def on_train_batch_end(self, batch, logs=None):
        self.trace.__exit__(None, None, None)
# or capture longer""",
        citations=("openxla/xprof#578",),
        evidence="reproduced",
        example="No step marker observed and hence the step time is unknown. This may happen if (1) training steps are not instrumented or (2) the profiling duration is shorter than the step time.",
        near_miss="Step marker observed; the step time is 12 ms",
    ),
    KnownError(
        id="E946",
        family="profile-too-large",
        phase=Phase.WATCHING,
        patterns=(
            r"XSpace.{0,120}?(?:exceeded maximum protobuf size|2 ?GI?B|too (?:large|big))",
            r"(?:[Ff]ailed to serialize|[Cc]annot serialize|[Ee]rror serializing) (?:the )?XSpace",
            r"\.xplane\.pb.{0,30}?(?:is |of |: ?|\()(?:0 ?-?bytes|empty|0 ?B\b)",
            r"(?:0[ -]byte|[Ee]mpty) .{0,40}?\.xplane\.pb",
            r" 0 (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2} \d{2}:?\d{2} .{0,160}?\.xplane\.pb",
        ),
        cause="A capture is one message (XSpace), and a protobuf message ends at 2 GB: a longer one is not written, or leaves a file of 0 bytes beside its folder. Less often the disk was full, or the program ended while it wrote.",
        fix="""\
tf.profiler.experimental.client.trace("grpc://TRAINER:6009", "gs://BUCKET/logs", 1000)      # one second or a few steps, not an epoch
options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=1, python_tracer_level=0)      # the host's events are most of it
tf.keras.callbacks.TensorBoard(logdir, profile_batch=(20, 24))                                # five steps""",
        citations=("openxla/xprof#380",),
        evidence="recalled",
        example="InvalidArgumentError: Failed to serialize XSpace to string: exceeded maximum protobuf size of 2GB: 2890123456",
        near_miss="wrote plugins/profile/2026_01_01/t1v-n-1-w-0.xplane.pb, 120 MB",
    ),
    KnownError(
        id="E44",
        family="nothing-captured",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(
            r"No trace event (?:is|was) collected",
            r"empty trace result",
            r"connect to (?:the )?profiler server",
            r"XPlane (?:proto )?not found",
            r"No XPlane proto",
            r"[Cc]ould not find profile data",
            r"TPU tracer failed to (?:start|stop|collect)",
        ),
        cause="The profiler captured nothing: the address is wrong, the trainer runs no profiler server, or the TPU was idle.",
        fix="""\
tf.profiler.experimental.server.start(6009)                     # in the trainer, before training
tf.profiler.experimental.client.trace("grpc://TRAINER:6009", "gs://BUCKET/logs", 2000)""",
        citations=(
            "openxla/xprof#380",
            "tensorflow/tensorflow#54495",
        ),
        evidence="reproduced",
        example="RuntimeError: UNAVAILABLE: No trace event was collected because there were no responses from clients or the responses did not have trace data.",
        near_miss="Trace events were collected from 2 hosts",
    ),
    KnownError(
        id="E45",
        family="monitor-unimplemented",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(r"UnimplementedError: unimplemented\.",),
        cause="tf.profiler.experimental.client.monitor does not work on a TPU VM.",
        fix="pip install tpu-info && tpu-info        # utilisation and memory from libtpu's own metrics, on the TPU VM",
        citations=("tensorflow/tensorflow#52210",),
        evidence="reproduced",
        example="""\
    return _pywrap_profiler.monitor(
tensorflow.python.framework.errors_impl.UnimplementedError: unimplemented.""",
        near_miss="UnimplementedError: Cast string to float is not supported",
    ),
    KnownError(
        id="E46",
        family="no-libtpu-metrics",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(r"Libtpu metrics unavailable\. Is there a framework using the TPU",),
        cause="libtpu serves no metrics: no process uses the TPU, it belongs to another user, or port 8431 is not served (libtpu's version).",
        fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*     # is a job running, and whose is it
ss -ltn | grep 8431                      # does its libtpu serve metrics""",
        citations=(
            "AI-Hypercomputer/cloud-accelerator-diagnostics#6",
            "AI-Hypercomputer/cloud-accelerator-diagnostics#9",
        ),
        example="Libtpu metrics unavailable. Is there a framework using the TPU? See the documentation for more information",
        near_miss="libtpu metrics are available on port 8431",
    ),
    KnownError(
        id="E50",
        family="metric-too-often",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(
            r"One or more points were written more frequently than the maximum sampling period configured for the metric",
        ),
        cause="A custom metric in Cloud Monitoring is written too often, or two writers share one time series.",
        fix="""\
# at least 10 s between two points, and labels of its own for every worker
series.resource.type = "generic_task"
series.resource.labels.update(project_id=project, location=zone, namespace="train", job=job, task_id=str(worker))""",
        citations=(
            "GitHub file 33771713323 (ts-bridge)",
            "GitHub file 37824292000",
        ),
        example="InvalidArgument desc = One or more TimeSeries could not be written: One or more points were written more frequently than the maximum sampling period configured for the metric.",
        near_miss="One or more of the points specified had an older start time than the most recent point",
    ),
    KnownError(
        id="E158",
        family="profiler-busy",
        phase=Phase.WATCHING,
        level="warning",
        patterns=(
            r"Another profiling session active",
            r"another profiler is running",
            r"[Aa]nother profiler session",
            r"Profiler.{0,40}?already (?:active|running|started)",
            r"Cannot start another profil",
            r"Only one profiler server can be active",
        ),
        cause="A profile is being taken already in this process (the TensorBoard callback, another capture), and there can be one only.",
        fix="""\
tf.profiler.experimental.stop()          # ends the one that is left over
# TensorBoard(profile_batch=0) where the profile is taken by hand or from outside""",
        evidence="reproduced",
        example="AlreadyExistsError: Another profiling session active.",
    ),
    KnownError(
        id="E190",
        family="plugin-of-another-age",
        phase=Phase.WATCHING,
        patterns=(
            r"Unexpected PLUGIN_\w{3,60} size: expected (?P<expected>\d{1,6}), got (?P<got>\d{1,6})",
            r"xla::profiler::PluginTracer::Start",
        ),
        cause="libtpu and the framework that loads it (JAX, jaxlib) are of different ages: a structure that they share has another size in each. The profiler goes on after this line and crashes the trainer (SIGSEGV) at the first capture.",
        details=("The framework expected {expected} bytes and libtpu has {got}.",),
        fix="""\
pip install -U "jax[tpu]"                # brings the libtpu that this JAX was made with
pip list | grep -iE "^(jax|jaxlib|libtpu)"
# until then take no profile: neither jax.profiler.start_trace nor a capture from outside""",
        useless="another port, a shorter capture or a restart do not help: the versions decide",
        evidence="reproduced",
        example="E1122 00:28:28.151243   16663 plugin_tracer.cc:107] Unexpected PLUGIN_Profiler_Api size: expected 80, got 104. Check installed software versions.",
        near_miss="The PJRT plugin has PJRT API version 0.94. The framework PJRT API version is 0.93.",
    ),
)
