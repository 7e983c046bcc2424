"""A training controller in the manner of Orbit."""

import abc
import time

import tensorflow as tf


class StandardTrainer(metaclass=abc.ABCMeta):
    def __init__(self, train_dataset):
        self._train_dataset = train_dataset
        self._train_iter = None
        self._loop_fn = None

    def train(self, num_steps):
        self.train_loop_begin()
        if self._train_iter is None:
            self._train_iter = iter(self._train_dataset)
        if self._loop_fn is None:
            self._loop_fn = create_loop_fn(self.train_step)
        self._loop_fn(self._train_iter, num_steps)
        return self.train_loop_end()

    def train_loop_begin(self):
        pass

    @abc.abstractmethod
    def train_step(self, iterator):
        pass

    def train_loop_end(self):
        pass


def create_loop_fn(step_fn):
    @tf.function
    def loop_fn(iterator, num_steps):
        for _ in tf.range(num_steps):
            step_fn(iterator)

    return loop_fn


class Controller:
    def __init__(self, trainer, checkpoint_manager, steps_per_loop):
        self.trainer = trainer
        self.checkpoint_manager = checkpoint_manager
        self.steps_per_loop = steps_per_loop

    def train(self, steps):
        done = 0
        while done < steps:
            started = time.time()
            num_steps = tf.convert_to_tensor(min(self.steps_per_loop, steps - done), dtype=tf.int32)
            output = self.trainer.train(num_steps)
            done += int(num_steps)
            rate = int(num_steps) / (time.time() - started)
            print(f"train | step: {done} | steps/sec: {rate:.1f} | loss: {float(output['loss']):.4f}")
            self.checkpoint_manager.save(checkpoint_number=done)
