from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Pipeline, Signals

from ._need import need, of_a_job
from ._paths import hosts

_READERS = ("TFRecord", "TextLine", "FixedLengthRecord", "Csv")
_MAKERS = ("FlatMap", "Interleave", "ParallelInterleave")
_OPTION = "options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy"


@check("TPU206", Severity.WARNING, needs_data=True)
def auto_shard(signals: Signals) -> Judgement:
    """Sharding gives hosts the same data, no data, or all the work.

    ## What it sees
    On a target of several hosts, for each dataset handed to the strategy: its AutoShardPolicy, its
    number of files, whether it shards itself. With one host there is nothing to shard.

    ## Why it costs
    `FILE` (and `AUTO`, which prefers it) with fewer files than hosts leaves hosts without data: the
    job fails or waits. `OFF` without own sharding trains every host on the same examples. With
    `DATA` every host reads and decodes everything and discards all but its part; `AUTO` falls back
    to it if it finds no reader of files.

    ## What to do
    ```python
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dataset = dataset.with_options(options)       # or FILE, with at least one file for each host
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/input#sharding
    """
    of_a_job(signals, "how the pipeline is sharded")
    count = hosts(signals)
    evidence = Evidence("hosts of the target", count, "hosts", source="target")
    pipelines = need(signals.pipelines, "a dataset handed to the strategy")
    # One host shards nothing, and that is known even where no dataset was handed to a strategy.
    if count == 1:
        yield evidence
        return
    given = [pipe for pipe in pipelines if pipe.distributed and pipe.trains]
    for pipe in need(given or None, "a dataset handed to the strategy"):
        yield from _sharding(pipe, count)
    yield evidence


def _sharding(pipe: Pipeline, count: int) -> Judgement:
    policy = pipe.auto_shard_policy or "AUTO"
    own = any(op.kind == "Shard" for op in pipe.ops)
    shards = Evidence("AutoShardPolicy", "none: by a function" if pipe.per_replica else policy)
    # The last one: options that are set later win.
    option = next((op for op in reversed(pipe.ops) if op.kind == "Options"), None)
    where = (option.location if option else None) or pipe.location
    if own:
        yield Evidence("own sharding", "Shard")
    elif pipe.per_replica or policy == "OFF":
        yield Finding(
            f"nothing shards the data: {count} hosts train on the same examples.",
            "dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)"
            if pipe.per_replica
            else f"{_OPTION}.DATA",
            (shards,),
            where,
        )
    elif policy in ("AUTO", "FILE"):
        yield from _by_file(pipe, policy, count, shards)
    yield shards


def _by_file(pipe: Pipeline, policy: str, count: int, shards: Evidence) -> Iterator[Finding]:
    """FILE, and AUTO, which falls back to DATA where no reader of files is found."""
    # AUTO finds the files of a reader, and of what makes one of each element.
    readers = (o for o in pipe.ops if o.kind in _READERS or (o.opens_files and o.kind in _MAKERS))
    reader = next(readers, None)
    if reader is not None and pipe.files is not None and pipe.files.count < count:
        yield Finding(
            f"{pipe.files.count} files for {count} hosts: some hosts get no data.",
            f"{_OPTION}.DATA  # or write at least {count} files",
            (shards, Evidence("files", pipe.files.count, "files", count)),
            reader.location or pipe.location,
        )
    # FILE without a reader is an error of TensorFlow's own; only AUTO goes on in silence.
    falling_back = reader is None and policy == "AUTO"
    works = (op for op in pipe.ops if op.costly or op.python or op.opens_files)
    costly = next(works, None) if falling_back else None
    if costly is not None:
        yield Finding(
            f"AUTO finds no reader of files and falls back to DATA: each of {count} hosts runs "
            f"{costly.kind} on all examples and keeps one in {count}.",
            "files = tf.data.Dataset.list_files(pattern).shard(hosts, host)  # before the work\n"
            f"{_OPTION}.OFF",
            (shards,),
            costly.location or pipe.location,
        )
