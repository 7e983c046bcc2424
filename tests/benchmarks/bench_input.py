"""The cost of an input pipeline on one core against what it does on two, and against /proc.

`python -m tests.benchmarks.bench_input`: TFRecord with JPEG, text, and a Python generator. Each
runs pinned to one core, where its cost is measured as `check` does, and then to both. For the
machine being otherwise idle: a busy one has no second core to give.
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
from pathlib import Path

SECONDS = 3.0
NEAR = 0.20
BATCH = 64
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


def child(name: str, folder: Path) -> None:
    """The cost as `check` measures it, and what /proc says meanwhile."""
    from tpudiag.signals import DatasetOp, Pipeline
    from tpudiag.sources.job.tensorflow.input_benchmark import cost

    data = dataset(name, folder)
    next(iter(data))
    before = _counters()
    pipeline = Pipeline(ops=(DatasetOp(kind="Batch", batch_size=BATCH),), elements=())
    found = cost(data, pipeline, SECONDS)
    after = _counters()
    print(
        json.dumps(
            {
                "rate": found.examples_per_second,
                "cpu_s": found.cpu_s_per_example,
                "read": (found.read_bytes or 0) / found.examples,
                "proc_read": (after[0] - before[0]) / found.examples / (1 + 1 / 4),
                "proc_cpu": (after[1] - before[1]) / found.examples / (1 + 1 / 4),
            }
        )
    )


def _counters() -> tuple[int, float]:
    """Bytes read and CPU seconds of this process, by /proc."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields["rchar"]), (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


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


def judged(name: str, folder: Path) -> bool:
    """One pipeline: two cores predicted from one, the bytes and the CPU time against /proc."""
    from tpudiag.prediction.input_verdict import SERIAL_BEST

    one, two = on_cores(name, folder, {0}), on_cores(name, folder, {0, 1})
    serial = name == "generator"
    predicted = max(1 / one["cpu_s"], one["rate"]) if serial else 2 / one["cpu_s"]
    error = predicted / two["rate"] - 1
    bytes_error = one["read"] / one["proc_read"] - 1 if one["proc_read"] > 1 else 0.0
    cpu_error = one["cpu_s"] / one["proc_cpu"] - 1
    held = predicted / SERIAL_BEST <= two["rate"] <= predicted * SERIAL_BEST
    good = all(abs(each) <= NEAR for each in (error, bytes_error, cpu_error)) and held
    print(
        f"{name:10} one core {one['rate']:8.0f}/s, two {two['rate']:8.0f}/s, predicted "
        f"{predicted:8.0f}/s {error:+.0%}; CPU of an example on two "
        f"{two['cpu_s'] / one['cpu_s'] - 1:+.0%}; bytes {bytes_error:+.0%}, "
        f"CPU {cpu_error:+.0%} of /proc {'' if good else 'MISSED'}",
        flush=True,
    )
    return good


def main() -> None:
    """All pipelines, or one in a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=NAMES)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.folder)
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder)
        good = [judged(each, folder) for each in NAMES]
    print(f"{sum(good)} of {len(good)}; {time.monotonic() - began:.0f} s")
    if not all(good):
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
