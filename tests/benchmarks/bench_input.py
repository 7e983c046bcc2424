"""The cost of an input pipeline on one core against what it does on two, and against /proc.

`python -m tests.benchmarks.bench_input`: TFRecord with JPEG, text, and a Python generator. Each
runs pinned to one core, where its cost is measured as `check` does, and to both, in turn. What
other programs took of the cores meanwhile is counted, and the prediction is made for what they
left; with less than LEAST_LEFT of them nothing is judged, for then there is no second core to give.
"""

# mypy: ignore-errors
# pyright: basic
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from tpudiag import input_verdict
from tpudiag.signals import InputCost

SECONDS, TURNS = 1.0, 7
"""How long a turn is, and how many there are on each number of cores. Single runs of 3 s differed
by up to 1.7 times on a virtual machine."""
READY = "ready"
NEAR = 0.20
BATCH = 64
LEAST_LEFT = 1.5
"""Cores that other programs must leave of two."""
NAMES = ("jpeg", "text", "generator")


def written(folder: Path) -> None:
    """The files that the pipelines read."""
    import numpy as np
    import tensorflow as tf

    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 255, (256, 28, 28, 3), dtype=np.uint8)
    with tf.io.TFRecordWriter(str(folder / "images")) as out:
        for each in coarse:
            image = tf.cast(tf.image.resize(each, (224, 224)), tf.uint8)
            jpeg = tf.train.Feature(
                bytes_list=tf.train.BytesList(value=[tf.io.encode_jpeg(image).numpy()])
            )
            features = tf.train.Features(feature={"image": jpeg})
            out.write(tf.train.Example(features=features).SerializeToString())
    words = np.array(["step", "trace", "replica", "batch", "infeed", "tile", "slice"])
    lines = [" ".join(words[rng.integers(0, 7, 60)]) for _ in range(20_000)]
    (folder / "text").write_text("\n".join(lines), encoding="utf-8")


def dataset(name: str, folder: Path):
    """One of the pipelines, endless."""
    import numpy as np
    import tensorflow as tf

    def decoded(record):
        spec = {"image": tf.io.FixedLenFeature([], tf.string)}
        image = tf.io.decode_jpeg(tf.io.parse_single_example(record, spec)["image"], channels=3)
        return tf.image.random_flip_left_right(tf.image.resize(image, (192, 192)) / 255)

    def hashed(line):
        return tf.strings.to_hash_bucket_fast(tf.strings.split(line), 30_000)[:50]

    def rows():
        number = 0
        while True:
            number += 1
            yield np.sqrt(np.arange(number, number + 4096, dtype=np.float32))

    auto = tf.data.AUTOTUNE
    if name == "jpeg":
        data = tf.data.TFRecordDataset(str(folder / "images")).repeat().map(decoded, auto)
    elif name == "text":
        data = tf.data.TextLineDataset(str(folder / "text")).repeat().map(hashed, auto)
    else:
        data = tf.data.Dataset.from_generator(
            rows, output_signature=tf.TensorSpec((4096,), tf.float32)
        )
    return data.batch(BATCH, drop_remainder=True).prefetch(auto)


def pipeline_of(name: str):
    """What `check` reads of a pipeline: what hands its elements to other threads."""
    from tpudiag.signals import DatasetOp, Pipeline

    worker = DatasetOp(kind="ParallelMap", parallelism=-1)
    if name == "generator":
        worker = DatasetOp(kind="FlatMap", python=True)
    return Pipeline(ops=(worker, DatasetOp(kind="Batch", batch_size=BATCH)), elements=())


def child(name: str, folder: Path) -> None:
    """At each line of its input: the cost as `check` measures it, and what /proc says meanwhile."""
    import tensorflow as tf

    from tpudiag.sources.job.tensorflow.input.input_benchmark import Run, cost

    data = dataset(name, folder)
    next(iter(data))
    print(READY, flush=True)
    for _ in sys.stdin:
        before, others, began = _counters(), _others_s(), time.monotonic()
        cost_of_it = cost(tf, Run(data), pipeline_of(name), SECONDS)
        after = _counters()
        taken = (_others_s() - others) / (time.monotonic() - began)
        measured = {
            "left": len(os.sched_getaffinity(0)) - max(0.0, taken),
            "cost": asdict(cost_of_it),
            "proc_read": (after[0] - before[0]) / cost_of_it.examples / (1 + 1 / 4),
            "proc_cpu": (after[1] - before[1]) / cost_of_it.examples / (1 + 1 / 4),
        }
        print(json.dumps(measured), flush=True)


def _counters() -> tuple[int, float]:
    """Bytes read and CPU seconds of this process, by /proc."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields["rchar"]), (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def _others_s() -> float:
    """CPU seconds that other programs have had of this process's cores."""
    cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    rows = [row.split() for row in Path("/proc/stat").read_text(encoding="ascii").splitlines()]
    # user, nice, system, idle, iowait, irq, softirq, steal
    ticks = sum(sum(map(int, [*row[1:4], *row[6:9]])) for row in rows if row[0] in cores)
    return ticks / os.sysconf("SC_CLK_TCK") - time.process_time()


@dataclass(frozen=True)
class Turn:
    """What a child measured once."""

    cost: InputCost
    left: float
    """Cores that other programs left it."""
    proc_read: float
    proc_cpu: float


class Pinned:
    """A child on some cores, which measures on request, and rests in between."""

    def __init__(self, name: str, folder: Path, cores: set[int]) -> None:
        here = [sys.executable, "-m", "tests.benchmarks.bench_input"]
        self._process = subprocess.Popen(
            [*here, "--child", name, "--folder", str(folder), "--cores", *map(str, cores)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._told, self._said = self._process.stdin, self._process.stdout
        while self._said.readline().strip() != READY:
            if self._process.poll() is not None:
                sys.exit(f"the child of {name} died")

    def turn(self) -> Turn:
        """Measure once."""
        self._told.write("\n")
        self._told.flush()
        measured = json.loads(self._said.readline())
        return Turn(**(measured | {"cost": InputCost(**measured["cost"])}))

    def end(self) -> None:
        """Let it go."""
        self._process.kill()
        self._process.wait()


def in_turn(name: str, folder: Path) -> tuple[list[Turn], list[Turn]]:
    """One core and two, one and two again: what the machine does meanwhile meets both."""
    children = [Pinned(name, folder, cores) for cores in ({0}, {0, 1})]
    try:
        turns = [[child.turn() for child in children] for _ in range(TURNS)]
    finally:
        for child in children:
            child.end()
    return [one for one, _ in turns], [two for _, two in turns]


def _spread(values: Iterable[float]) -> float:
    """From the least to the largest, against the median."""
    known = sorted(values)
    return (known[-1] - known[0]) / median(known)


def judged(name: str, folder: Path) -> bool | None:
    """One pipeline: two cores predicted from one, the bytes and the CPU time against /proc.

    By the medians of the turns. None where the machine was too busy for the prediction to be held
    against anything.
    """
    ones, twos = in_turn(name, folder)
    pipeline = pipeline_of(name)
    pairs = list(zip(ones, twos, strict=True))
    claims = [input_verdict.on_cores(pipeline, a.cost, b.left) for a, b in pairs]
    rates = [b.cost.examples_per_second for b in twos]
    error = median(c.value / rate - 1 for c, rate in zip(claims, rates, strict=True))
    held = sum(c.low <= rate <= c.high for c, rate in zip(claims, rates, strict=True))
    read = median(a.proc_read for a in ones)
    bytes_error = median((a.cost.read_bytes or 0) / a.cost.examples for a in ones) / read - 1
    cpu_error = median(a.cost.cpu_s_per_example / a.proc_cpu for a in ones) - 1
    errors = (error, bytes_error if read > 1 else 0.0, cpu_error)
    good = all(abs(each) <= NEAR for each in errors) and held > TURNS / 2
    left = median(b.left for b in twos)
    enough = left >= LEAST_LEFT and median(a.left for a in ones) >= LEAST_LEFT / 2
    verdict = ("" if good else "MISSED") if enough else "NOT JUDGED: the machine is busy"
    more = median(b.cost.cpu_s_per_example / a.cost.cpu_s_per_example for a, b in pairs) - 1
    serial = median(1e6 * (a.cost.serial_s_per_example or 0) for a in ones)
    noise = [_spread(t.cost.cpu_s_per_example for t in turns) for turns in (ones, twos)]
    print(
        f"{name:10} one core {median(a.cost.examples_per_second for a in ones):8.0f}/s, "
        f"{left:.2f} of two {median(rates):8.0f}/s, "
        f"predicted {median(c.value for c in claims):8.0f}/s {error:+.0%}, in its range {held} of "
        f"{TURNS}; "
        f"CPU of an example on two {more:+.0%}, from turn to turn {noise[0]:.0%} on one "
        f"and {noise[1]:.0%} on two; serial {serial:.1f} us; bytes {errors[1]:+.0%}, "
        f"CPU {cpu_error:+.0%} of /proc {verdict}",
        flush=True,
    )
    return good if enough else None


def main() -> None:
    """All pipelines, or one in a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=NAMES)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--cores", type=int, nargs="+")
    asked = parser.parse_args()
    if asked.child:
        os.sched_setaffinity(0, asked.cores)  # before TensorFlow counts them
        child(asked.child, asked.folder)
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder)
        good = [judged(each, folder) for each in NAMES]
    known = [each for each in good if each is not None]
    print(f"{sum(known)} of {len(known)} judged; {time.monotonic() - began:.0f} s")
    if len(known) < len(good):
        sys.exit("the machine is too busy to judge all")
    if not all(known):
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
