"""A small trainer in which a fault can be switched on: `faulty_trainer.py FOLDER FAULT [BARRIER]`.

It trains on the CPU until the file `stop` is in its folder; the fault begins with the file `go`.
"""

import mmap
import random
import socket
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import tpudiag

FOLDER, FAULT = Path(sys.argv[1]), sys.argv[2]
WORKER = int(sys.argv[3]) if len(sys.argv) > 3 else None
PORT = int(sys.argv[4]) if len(sys.argv) > 4 else 0
STEP_S, INPUT_S = 0.03, 0.004


def gone_wrong(fault: str) -> bool:
    """Whether this fault is on."""
    return fault == FAULT and (FOLDER / "go").exists()


def batches() -> Iterator[int]:
    """The input."""
    number = 0
    while not (FOLDER / "stop").exists():
        if FAULT == "starved":
            compute(STEP_S)
        time.sleep(0.25 if gone_wrong("input") or gone_wrong("both") else INPUT_S)
        number += 1
        yield number


def compute(seconds: float) -> None:
    """The step's own work: CPU time, so that it suffers where others take the cores."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))


def evaluate() -> None:
    """An evaluation that nothing announces."""
    compute(0.1)


def save_checkpoint() -> None:
    """A checkpoint to a slow disk."""
    time.sleep(0.15)


def all_reduce(connection: socket.socket) -> None:
    """Wait for the other workers."""
    connection.sendall(b"x")
    connection.recv(1)


def exchange(gradients: int) -> None:
    """A slow link of this worker."""
    del gradients
    time.sleep(0.5)


def touch(data: mmap.mmap) -> int:
    """Read here and there in the data, which fit into memory until it becomes short."""
    return sum(data[random.randrange(len(data))] for _ in range(400))


def train_step(tensorflow: Any, number: int) -> None:
    """A tf.function that is traced anew for each Python number."""
    argument = number if gone_wrong("retrace") else 0
    tensorflow(argument)


def main() -> None:
    """Train."""
    function: Any = None
    if FAULT == "retrace":
        tf: Any = import_module("tensorflow")
        weights = tf.Variable(tf.random.normal((256, 256)))

        def step(number: int) -> Any:
            product = weights
            for _ in range(10):
                product = tf.matmul(product, weights) + float(number)
            return product

        function = tf.function(step)
    data: Any = None
    if FAULT == "memory":
        with (FOLDER / "data").open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    connection = socket.create_connection(("127.0.0.1", PORT)) if PORT else None
    path = FOLDER / f"worker{WORKER or 0}.sqlite"
    for number in tpudiag.track(batches(), global_batch_size=32, path=path, name="train.py"):
        if function is not None:
            train_step(function, number)
        if data is not None:
            touch(data)
        compute(STEP_S if WORKER is None and FAULT != "starved" else STEP_S / 6)
        if gone_wrong("evaluation") and number % 2 == 0:
            evaluate()
        if gone_wrong("checkpoint") and number % 2 == 0:
            save_checkpoint()
        if WORKER == 2 and gone_wrong("partner"):
            exchange(number)
        if connection is not None:
            all_reduce(connection)


if __name__ == "__main__":
    main()
