"""The cost of an input pipeline on one core against what it does on two, and against /proc.

`python -m tests.benchmarks.bench_input`: TFRecord with JPEG, text, and a Python generator. Each
runs pinned to one core, where its cost is measured as `check` does, and then to both. What it costs
this machine to hand an element to another thread is measured apart, by a map that does nothing.
What other programs took of the cores meanwhile is counted, and the prediction is made for what they
left; with less than LEAST_LEFT of them nothing is judged, for then there is no second core to give.
"""

# mypy: ignore-errors
# pyright: basic
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from tpudiag.prediction import input_verdict
from tpudiag.signals import InputCost

SECONDS = 3.0
NEAR = 0.20
BATCH = 64
LEAST_LEFT = 1.5
"""Cores that other programs must leave of two."""
NAMES = ("jpeg", "text", "generator")
NOTHING = "nothing"


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
    if name == NOTHING:
        data = tf.data.Dataset.range(1 << 40).map(lambda number: number + 1, auto)
    elif name == "jpeg":
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
    """The cost as `check` measures it, and what /proc says meanwhile."""
    import tensorflow as tf

    from tpudiag.sources.job.tensorflow.input_benchmark import cost

    data = dataset(name, folder)
    next(iter(data))
    before, others, began = _counters(), _others_s(), time.monotonic()
    cost_of_it = cost(tf, data, pipeline_of(name), SECONDS)
    after = _counters()
    taken = (_others_s() - others) / (time.monotonic() - began)
    measured = {
        "left": len(os.sched_getaffinity(0)) - max(0.0, taken),
        "cost": asdict(cost_of_it),
        "proc_read": (after[0] - before[0]) / cost_of_it.examples / (1 + 1 / 4),
        "proc_cpu": (after[1] - before[1]) / cost_of_it.examples / (1 + 1 / 4),
    }
    print(json.dumps(measured))


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


def on_cores(name: str, folder: Path, cores: set[int]) -> dict[str, float]:
    """A child pinned to these cores."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.bench_input",
        "--child",
        name,
        "--folder",
        str(folder),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    return json.loads(done.stdout.splitlines()[-1])


def handed_us(folder: Path) -> float:
    """CPU time that handing over one element costs on two cores, and not on one."""
    one, two = (_cost(on_cores(NOTHING, folder, cores)) for cores in ({0}, {0, 1}))
    return 1e6 * max(0.0, 2 / two.examples_per_second - one.cpu_s_per_example)


def _cost(measured: dict) -> InputCost:
    """What a child measured."""
    return InputCost(**measured["cost"])


def judged(name: str, folder: Path, handed: float) -> bool | None:
    """One pipeline: two cores predicted from one, the bytes and the CPU time against /proc.

    None where the machine was too busy for the prediction to be held against anything.
    """
    measured = on_cores(name, folder, {0})
    on_two = on_cores(name, folder, {0, 1})
    one, two, left = _cost(measured), _cost(on_two), on_two["left"]
    pipeline = pipeline_of(name)
    predicted = input_verdict.on_cores(pipeline, one, left, handed).value
    claimed = input_verdict.on_cores(pipeline, one, left)
    rate, read = two.examples_per_second, measured["proc_read"]
    error = predicted / rate - 1
    bytes_error = (one.read_bytes or 0) / one.examples / read - 1 if read > 1 else 0.0
    cpu_error = one.cpu_s_per_example / measured["proc_cpu"] - 1
    held = claimed.low <= rate <= claimed.high
    good = all(abs(each) <= NEAR for each in (error, bytes_error, cpu_error)) and held
    enough = left >= LEAST_LEFT
    verdict = ("" if good else "MISSED") if enough else "NOT JUDGED: the machine is busy"
    more = two.cpu_s_per_example / one.cpu_s_per_example - 1
    print(
        f"{name:10} one core {one.examples_per_second:8.0f}/s, {left:.2f} of two {rate:8.0f}/s, "
        f"predicted {predicted:8.0f}/s {error:+.0%} "
        f"(claimed {claimed.low:.0f} to {claimed.high:.0f}); "
        f"CPU of an example on two {more:+.0%}; serial "
        f"{1e6 * (one.serial_s_per_example or 0):.1f} us; bytes {bytes_error:+.0%}, "
        f"CPU {cpu_error:+.0%} of /proc {verdict}",
        flush=True,
    )
    return good if enough else None


def main() -> None:
    """All pipelines, or one in a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=(*NAMES, NOTHING))
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.folder)
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder)
        handed = handed_us(folder)
        print(f"handing over an element costs {handed:.0f} us of CPU on two cores")
        good = [judged(each, folder, handed) for each in NAMES]
    known = [each for each in good if each is not None]
    print(f"{sum(known)} of {len(known)} judged; {time.monotonic() - began:.0f} s")
    if len(known) < len(good):
        sys.exit("the machine is too busy to judge all")
    if not all(known):
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
