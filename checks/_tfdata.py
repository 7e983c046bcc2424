"""Advice on the tf.data op that a training loop waits for, by the op's kind."""

import re
from typing import NamedTuple

from tpudiag.model import Evidence
from tpudiag.signals import IteratorTime, ProfileFacts


class Advice(NamedTuple):
    """Why an op is slow, and the fix."""

    why: str
    fix: str


READING = Advice(
    "it reads: slow storage or network, or too few reads at a time",
    "files = tf.data.Dataset.list_files(pattern)   # a bucket in the region of the TPU\n"
    "dataset = files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)",
)
SERIAL = Advice(
    "it works on one element after the other",
    "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)  # interleave, batch: the same",
)
PARALLEL = Advice(
    "it is parallel already, so the host's cores are the limit",
    "dataset = dataset.cache()  # after what is the same in every epoch, before random steps\n"
    "dataset = dataset.apply(tf.data.experimental.service.distribute(\n"
    '    processing_mode="distributed_epoch", service="grpc://dispatcher:5000"))',
)
PYTHON = Advice(
    "it is a Python generator, or the hand-over of elements to the replicas",
    "dataset = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)  # no Python",
)
SERVICE = Advice(
    "the tf.data service delivers too slowly",
    "start more workers of the tf.data service, or share its work between jobs (job_name=...)",
)
OTHER = Advice(
    "it has no parallel form",
    "dataset = dataset.cache()  # after it, where it gives the same in every epoch\n"
    "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # last",
)
READERS = r"(TFRecord|TextLine|FixedLengthRecord|Csv|LMDB|Sql|MatchingFiles|BigQuery).*"
KINDS = (
    (re.compile(r"DataService.*"), SERVICE),
    (re.compile(r"Generator|PyFunc.*"), PYTHON),
    (re.compile(READERS), READING),
    (re.compile(r"Parallel.*|MapAndBatch.*|LegacyParallel.*"), PARALLEL),
    (re.compile(r"(Map|Interleave|Batch|PaddedBatch)(V\d+)?"), SERIAL),
)


def advice(op: str) -> Advice:
    """The advice for an op by its name in a trace, e.g. `ParallelMapV2`."""
    return next((words for pattern, words in KINDS if pattern.fullmatch(op)), OTHER)


def blocker(profile: ProfileFacts | None, host: str | None = None) -> IteratorTime | None:
    """The op that a host's loop waited for longest; of all hosts where none is given."""
    blockers = profile.blockers if profile else ()
    return next((b for b in blockers if host is None or b.host == host), None)


def blocked_by(profile: ProfileFacts, blocking: IteratorTime) -> Evidence:
    """The op, and how long the loop waited for it."""
    path, ms = blocking.name.removeprefix("Iterator::"), round(blocking.blocked_ms, 3)
    return Evidence(f"waited for {path}", ms, "ms", source=profile.source)
