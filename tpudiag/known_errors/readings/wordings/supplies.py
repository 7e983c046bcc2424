# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""What a job is fed and built from: buckets, input files, examples, packages."""

from __future__ import annotations

from .wording import Wording, Wordings

SUPPLIES: Wordings = {
    "E598": (
        Wording(
            r"Invalid bucket name: ?'?(?P<bucket>[\w.{}$<>/-]{1,80})",
            "There can be no bucket of the name `<<bucket>>`: a placeholder of the notebook or command that was left as it is, an empty variable, a name with capitals or blanks, or gs:// written twice.",
            'BUCKET = "the-name-of-your-own-bucket"      # lower case, without gs://; then gs://{BUCKET}/...\ngcloud storage buckets list                   # which ones there are; gcloud storage buckets create gs://NAME --location=REGION_OF_THE_TPU',
            "InvalidArgumentError: Error executing an HTTP request: HTTP response code 400 with body 'Invalid bucket name: 'YOUR_BUCKET'' when reading metadata of gs://YOUR_BUCKET/models",
        ),
    ),
    "E26": (
        Wording(
            r"Anonymous credentials cannot be refreshed",
            "Nobody is logged in (the client was made anonymous, or found no account), and the bucket or the request wants an account: it is not public, or its name is not that of a public one.",
            "gcloud auth application-default login                      # a machine of your own; the VM: its service account\nfrom google.colab import auth; auth.authenticate_user()      # Colab\ngcloud storage ls gs://BUCKET                                # is it the right name? then its rights",
            "ValueError: Anonymous credentials cannot be refreshed.",
        ),
        Wording(
            r"(?:40[13] ?)?(?P<account>(?![\w.-]{1,60}@[\w.-]{1,60}gserviceaccount)[\w.+-]{1,60}@[\w.-]{2,60}\.\w{2,10}) does not have (?:serviceusage|storage)\.(?P<right>[\w.]{2,40}) access",
            "The account that is logged in, <<account>>, has no storage.<<right>> on this bucket: it is somebody else's bucket, of another project, or its name is mistyped (a bucket that does not exist is refused with the same words).",
            'gcloud storage buckets list --project=PROJECT      # is the bucket yours, and spelled so?\ngcloud storage buckets add-iam-policy-binding gs://BUCKET --member="user:<<account>>" --role=roles/storage.objectAdmin      # by its owner\ngcloud config get account; gcloud auth login                  # the account that was meant? in Colab: auth.authenticate_user() again',
            "PermissionDeniedError: HTTP response code 403: somebody@gmail.com does not have storage.objects.get access to bucket/data.",
        ),
    ),
    "E560": (
        Wording(
            r"`?cycle_length`? must be (?:>|greater|positive|a positive)",
            "The list of input files is empty: cycle_length is mostly min(threads, number of files), and the pattern of --input_file matched nothing (a wrong folder, an unfilled variable, no right to list the bucket, a comma list with blanks).",
            'files = tf.io.gfile.glob(PATTERN); assert files, f"nothing matches {PATTERN}"      # before the dataset is made\ngcloud storage ls "gs://BUCKET/DIR/*.tfrecord"                                       # what is there; quotes keep the shell from filling in the *',
            "cycle_length = min(num_cpu_threads, len(input_files)) ValueError: `cycle_length` must be > 0",
        ),
    ),
    "E213 E484": (
        Wording(
            r"could not be converted to the expected type.{0,200}?yielded element was \[?\[?list\(",
            "The element is an array of lists (`[list([...]) list([...])]`): its rows have different lengths, so NumPy keeps them as objects, and no tensor can be made of it.",
            "rows = keras.utils.pad_sequences(rows, maxlen=LENGTH, dtype='float32', padding='post')      # one length for all, before the yield\nprint({len(row) for row in rows})                                                              # more than one number: ragged",
            "TypeError: `generator` yielded an element that could not be converted to the expected type. The expected type was float32, but the yielded element was [list([0.5, 0.7]) list([0.1])].",
        ),
        Wording(
            r"The expected structure was \{.{1,2000}?yielded element was \{",
            "Both are dicts, with other keys (or other nesting): every key that is declared must come with each yield, and no other.",
            "print(sorted(next(iter(generate())))); print(sorted(output_types))      # the same names? what only one of them has is the fault\nyield {key: example[key] for key in output_signature}",
            "TypeError: `generator` yielded an element that did not match the expected structure. The expected structure was {'a': tf.float32}, but the yielded element was {'b': 1}.",
        ),
    ),
    "P75 E495": (
        Wording(
            r"'str' object has no attribute '(?P<name>items|keys|values|get|update|pop)'",
            "A text stands where a dict is wanted (`<<name>>` is asked of it): a setting of the configuration that takes names with values and was given a bare path or name, or a JSON or YAML text (or the file's path) that was not parsed.",
            '"val_set": {"NAME": "data/val.index"}            # the program\'s own example of the configuration shows which settings are groups\nconfig = json.load(open(path)); yaml.safe_load(open(path))      # parsed, not the text or path itself\nprint(type(value), repr(value)[:200])             # right before the line that fails',
            "for k, v in params['val_set'].items(): AttributeError: 'str' object has no attribute 'items'",
        ),
    ),
    "P03": (
        Wording(
            r"module 'tensorflow' has no attribute 'python'",
            "tensorflow.python is TensorFlow's private part: it is no attribute of `tensorflow` (since 2.1 not even by accident), and must not be used by name.",
            "import tensorflow as tf; tf.keras.optimizers.Optimizer, tf.keras.backend, tf.data      # the public name of what is meant\nfrom tensorflow.python.framework import ops      # if there is none: an import finds it, in this release",
            "AttributeError: module 'tensorflow' has no attribute 'python'",
        ),
    ),
}
