# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: args: --epochs 6 --width 256 --data iris.csv
# corpus: files: corpus_helper.py iris.csv
# corpus: why: argparse, a sibling helper module and a data file beside the script.
"""Train on a small table that lies beside this script."""
import argparse
import csv
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from corpus_helper import build_mlp, get_strategy

HERE = Path(__file__).resolve().parent


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--data", default="iris.csv")
    parser.add_argument("--out", default="run")
    return parser.parse_args()


def load_table(path):
    with open(path, newline="") as stream:
        rows = [list(map(float, row)) for row in csv.reader(stream)]
    table = np.asarray(rows, dtype=np.float32)
    table = np.tile(table, (4096 // len(table) + 1, 1))
    return table[:, :-1], table[:, -1].astype(np.int32)


def main():
    args = parse_args()
    strategy = get_strategy()
    keras.mixed_precision.set_dtype_policy("mixed_bfloat16")
    x, y = load_table(HERE / args.data)
    batch = 128 * strategy.num_replicas_in_sync

    with strategy.scope():
        model = build_mlp(x.shape[1], args.width, 3)
        model.compile(
            optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=[keras.metrics.SparseCategoricalAccuracy()],
        )

    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(4096).repeat()
    ds = ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    model.fit(
        ds,
        steps_per_epoch=6,
        epochs=args.epochs,
        callbacks=[
            keras.callbacks.ModelCheckpoint(args.out + "/{epoch:02d}.keras"),
            keras.callbacks.CSVLogger("log.csv"),
        ],
        verbose=2,
    )


if __name__ == "__main__":
    main()
