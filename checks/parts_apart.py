from tpudiag.model import BOTH, Confidence, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from .missing_prefetch import own_pipelines


@check("TPU215", Severity.WARNING, needs_data=True, frameworks=BOTH)
def parts_apart(signals: Signals) -> Judgement:
    """Inputs and labels come in different orders.

    ## What it sees
    In a pipeline that feeds the training step, two datasets that are zipped and become input and
    label, each made of files that have the same names in two folders: whether each is shuffled by
    itself without a seed, or lists them in another order.

    ## Why it costs
    No error: each picture gets the mask of another one, and the model learns the mean of all masks.
    `list_files` shuffles unless it is told not to, and `os.listdir` and `glob` have no order.

    ## What to do
    ```python
    pictures = tf.data.Dataset.list_files("pictures/*.png", shuffle=False)   # both by their names
    masks = tf.data.Dataset.list_files("masks/*.png", shuffle=False)
    dataset = tf.data.Dataset.zip((pictures, masks)).shuffle(examples)       # shuffled as pairs
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/data/Dataset#list_files
    """
    for pipeline in own_pipelines(signals):
        apart = pipeline.apart
        if apart is not None:
            how = "shuffled each by itself" if apart.shuffled else "listed in different orders"
            first, second = apart.first
            yield Finding(
                f"{apart.files:,} files have the same names in two places ({first} and {second}), "
                f"and are zipped after they were {how}: inputs and labels do not belong together.",
                "files = tf.data.Dataset.list_files(pattern, shuffle=False)  # of both, by names\n"
                "dataset = tf.data.Dataset.zip((inputs, labels)).shuffle(examples)",
                (Evidence("files of the same names", apart.files, "files"), Evidence("order", how)),
                apart.location or pipeline.location,
                confidence=Confidence.MEDIUM,
            )
        yield Evidence("transformations", len(pipeline.ops), source=str(pipeline.location))
