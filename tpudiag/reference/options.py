"""The reference job's own command line."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

ModelName = Literal["mlp", "resnet50", "bert", "vit"]
LoopName = Literal["custom", "fit"]
"""A train step of its own, or Keras fit."""
PrecisionName = Literal["mixed_bfloat16", "float32"]
"""Keras' dtype policy."""
MODELS, LOOPS, PRECISIONS = get_args(ModelName), get_args(LoopName), get_args(PrecisionName)


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """What the reference job trains, how, and for how long."""

    model: ModelName = "mlp"
    loop: LoopName = "custom"
    tpu: str = "local"
    cpu_replicas: int = 0
    """Above 0: train on so many CPU replicas, with no TPU and no observer."""
    precision: PrecisionName = "mixed_bfloat16"
    full_size: bool = False
    replica_batch: int = 128
    train_steps: int = 1000
    checkpoint_dir: str = "checkpoints"
    checkpoint_every: int = 200


def parse(arguments: Sequence[str]) -> JobOptions:
    """The options of `python -m tpudiag.reference.job`."""
    parser = argparse.ArgumentParser(prog="tpudiag.reference.job", description=__doc__)
    default = JobOptions()
    parser.add_argument("--model", choices=MODELS, default=default.model)
    parser.add_argument("--loop", choices=LOOPS, default=default.loop)
    parser.add_argument("--tpu", default=default.tpu)
    parser.add_argument("--cpu-replicas", type=int, default=default.cpu_replicas)
    parser.add_argument("--precision", choices=PRECISIONS, default=default.precision)
    parser.add_argument("--full-size", action="store_true")
    parser.add_argument("--replica-batch", type=int, default=default.replica_batch)
    parser.add_argument("--train-steps", type=int, default=default.train_steps)
    parser.add_argument("--checkpoint-dir", default=default.checkpoint_dir)
    parser.add_argument("--checkpoint-every", type=int, default=default.checkpoint_every)
    return JobOptions(**vars(parser.parse_args(arguments)))
