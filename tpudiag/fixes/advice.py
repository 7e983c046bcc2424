"""Why the findings of some checks have no change that could be made by itself."""

from __future__ import annotations

GENERAL = "what to change is for the author of the script to say"
ADVICE = {
    "TPU001": "a TensorFlow 1 script has to be ported, and is not run",
    "TPU002": "it is the environment that is to be mended, not the script",
    "TPU003": "it is the TPU's name, project or network, not the script",
    "TPU004": "it is the choice of TPU or TensorFlow, not the script",
    "TPU005": "it is the installed Keras, not the script",
    "TPU101": "what differs from call to call is no number: it has to be the same where it is made",
    "TPU103": "no other operation computes the same: it has to move into the input pipeline",
    "TPU110": "whether the array is to be trained, fed or looked up, only the author knows",
    "TPU201": "it is a sum of causes: those with findings of their own are mended one by one",
    "TPU207": "what the Python function does has to be written with TensorFlow's operations",
    "TPU208": "the bucket that holds the data is not known",
    "TPU210": "where the cast belongs, only the author of the model knows",
    "TPU213": "how much shuffling is enough, only the author of the job knows",
    "TPU301": "a smaller batch or model changes the training",
    "TPU302": "another shape changes the model",
    "TPU303": "a smaller batch changes the training",
    "TPU405": "it is a sum of causes: those with findings of their own are mended one by one",
    "TPU406": "it is a sum of causes: those with findings of their own are mended one by one",
    "TPU503": "it is a host, not the script",
    "TPU504": "the batch and the topology decide, not a line",
    "TPU506": "whether the limit is meant for a replica or for the sum, only the author knows",
    "TPU509": "the capacity is part of the model",
    "TPU603": "it is seen while the job runs; no line of the script is known to cause it",
    "TPU604": "it is seen while the job runs; no line of the script is known to cause it",
    "TPU605": "each known error has an answer of its own: `tpudiag explain --error` shows it",
    "TPU606": "how often to evaluate, only the author of the job knows",
    "TPU607": "it is seen while the job runs; no line of the script is known to cause it",
    "TPU608": "how often to save and to evaluate, only the author of the job knows",
    "TPU609": "the error that ended it has an answer of its own: TPU605",
    "TPU610": "it is a disk, not the script",
    "TPU611": "what keeps the loss finite is part of the model",
}
