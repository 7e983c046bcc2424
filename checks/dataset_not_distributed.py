from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of


@check("TPU505", Severity.ERROR)
def dataset_not_distributed(signals: Signals) -> Judgement:
    """Every replica trains on the same batch.

    ## What it sees
    The arguments of strategy.run if gradients are taken on more than one replica: whether one of
    them differs from replica to replica, or is a plain tensor for all; whether a dataset that was
    read without being distributed gives such tensors; whether a replica asks for its number to take
    its own part.

    ## Why it costs
    strategy.run passes the same plain tensor to each replica. All replicas compute the same
    gradients: eight chips are paid for the update of one, while the figures show eight times the
    throughput. Summed, the gradients are eight times too large.

    ## What to do
    ```python
    distributed = strategy.experimental_distribute_dataset(dataset)   # global batch, divided
    for batch in distributed:
        train_step(batch)
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/custom_training
    """
    loop = loop_of(signals)
    plain = loop.undistributed
    if plain is not None:
        yield Finding(
            f"each of {plain.replicas} replicas trains on the same {', '.join(plain.shapes)}: "
            f"{plain.replicas} times the compute for the same update.",
            "distributed = strategy.experimental_distribute_dataset(dataset)\n"
            "for batch in distributed:  # not: for batch in dataset",
            (
                Evidence("replicas", plain.replicas, "replicas"),
                Evidence("same on each", ", ".join(plain.shapes)),
                Evidence("from a dataset that was not distributed", plain.from_dataset),
            ),
            plain.location,
            # Plain tensors that came from no dataset may be meant for all (constants, a schedule).
            severity=None if plain.from_dataset else Severity.WARNING,
        )
    yield Evidence("calls that trained", loop.dispatches, "calls")
