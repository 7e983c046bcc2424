# ruff: noqa: E501  (what is pasted stays in one piece)
"""What a path that is not there tells by its form: whose it is, and where it should be."""

from __future__ import annotations

import re

from .meaning import Reading

_FORMS: tuple[tuple[str, str, str], ...] = (
    (
        r"(?P<path>/content/(?:g?drive|mydrive)/.*)",
        "The path is on Google Drive: it has to be mounted in this session, and a TPU Node's worker never sees it.",
        "from google.colab import drive; drive.mount('/content/drive')      # then: /content/drive/MyDrive/... (MyDrive, not 'My Drive')\n"
        "import os; print(os.listdir(os.path.dirname('<<path>>')))",
    ),
    (
        r"(?P<path>/kaggle/(?:input|working)/.*)",
        "The path is of Kaggle: the dataset has to be attached to this notebook, under exactly that name (what is copied from another notebook has another).",
        "import os; print(os.listdir('/kaggle/input'))      # Add Input, if it is not among them\n"
        "from kaggle_datasets import KaggleDatasets; path = KaggleDatasets().get_gcs_path('DATASET')      # the old TPU v3-8 Node reads its bucket alone",
    ),
    (
        r"(?P<path>(?:/tmp/|/var/tmp/)?tfhub_modules/.*|/tmp/tfhub_modules/.*)",
        "The path is TF Hub's cache on this machine: a module that was not downloaded whole, or that a remote worker is to read.",
        'os.environ["TFHUB_MODEL_LOAD_FORMAT"] = "UNCOMPRESSED"      # read from its bucket; before hub is imported\n'
        "rm -r /tmp/tfhub_modules                                      # a download that was cut off: again",
    ),
    (
        r"(?P<path>(?:gs|s3|hdfs)://.*)",
        "The path is in a bucket: no object begins with that name, or this account may not see it.",
        "gcloud storage ls '<<path>>*'      # letter by letter; a `folder` without objects does not exist",
    ),
    (
        r"(?P<path>(?:gs|gcs|s3):/[^/].*)",
        "The path has one slash too few: pathlib and os.path.normpath turn gs:// into gs:/.",
        'path = f"gs://BUCKET/{name}"      # a string; os.path.join and epath.Path keep the two slashes, pathlib.Path does not',
    ),
    (
        r"(?P<path>[A-Za-z]:[\\/].*)",
        "The path is of Windows, and this program runs on Linux.",
        "path = pathlib.Path('data') / 'train.tfrecord'      # relative to the script, or a bucket: gs://BUCKET/data",
    ),
    (
        r"(?P<path>~.*|\$\w+.*)",
        "The path is taken literally: `~` and variables are put in by the shell alone, not inside quotes or by Python.",
        "path = os.path.expanduser(os.path.expandvars('<<path>>'))",
    ),
    (
        r"(?P<path>/(?:path|your|my|PATH)[/_-].*|.*(?:path/to|your[_-](?:path|bucket|data|file)).*)",
        "The path is the placeholder of an example.",
        "# put your own path in its place: <<path>>",
    ),
    (
        r"(?P<path>/(?:home|root|Users|data|mnt|media|workspace|datasets?)/.*)",
        "It is a path of one machine: of the author's, or of another host than the one that looks for it (each worker of a slice has its own disk).",
        "ls -ld '<<path>>' \"$(dirname '<<path>>')\"      # on the host that says it; the first part that is not there\n"
        'gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="ls -l <<path>>"      # a slice: on all of them, or gs:// for all',
    ),
    (
        r"(?P<path>/content/.*)",
        "The path is on the disk of a Colab session, which is empty after each new start: what was uploaded, cloned or unpacked there is gone, or has another name.",
        "!ls -la /content \"$(dirname '<<path>>')\"      # the first part that is not there; then upload, clone or unpack it again\n"
        "from google.colab import drive; drive.mount('/content/drive')      # or keep it on Drive, or in gs://BUCKET",
    ),
    (
        r"(?P<path>(?:\.{1,2}/)?(?:[\w.-]{1,60}/){0,8}(?:tf_?records?|processed|prepared|preprocessed|features|pretrain\w{0,10}data)(?:/[\w.*/-]{0,160}|[\w.*-]{0,60}))",
        "These are data that a script of the repository makes first: it was not run, stopped early, or wrote under another name (its settings are a part of the path) or to another folder than the one this program was started in.",
        "import os; print(os.getcwd()); os.system(\"find . -maxdepth 4 -iname '*record*' | head\")      # what is there\n"
        "grep -nE 'prepare|create_|tfrecord' README* scripts/* | head                                  # the step that makes them\n"
        "path = 'gs://BUCKET/<<path>>'                                                                   # a TPU Node or a slice: in a bucket",
    ),
    (
        r"(?P<path>(?:\.{1,2}/)?[\w-][\w./-]{1,160})",
        "The path is relative: it counts from where the program was started, not from where the script lies.",
        "import os; print(os.getcwd(), os.path.exists('<<path>>'))\n"
        "path = pathlib.Path(__file__).parent / '<<path>>'      # beside the script",
    ),
)


def read(family: str, values: dict[str, str], _: str) -> Reading | None:
    """What the path that an error names tells."""
    path = values.get("file", "").rstrip(";,:")
    # A TPU Node's worker cannot see any local path, whatever its form: the entry says that.
    if not path or family == "local-files":
        return None
    for form, cause, fix in _FORMS:
        if named := re.fullmatch(form, path):
            return Reading(cause, fix.replace("<<path>>", named["path"]))
    return None
