# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of accounts, disks, workers and packages, and of what is handed to them."""

from __future__ import annotations

from .wording import Wording, Wordings

MACHINES: Wordings = {
    "E232": (
        Wording(
            r"invalid_grant",
            "The login is no longer valid: it ran out or was revoked (a password that changed, a token of another account), or the machine's clock is wrong. No right is missing.",
            "gcloud auth login && gcloud auth application-default login      # both: gcloud's own and that of programs; a notebook: auth.authenticate_user() again\ntimedatectl status                                               # the clock; a key file: is the key still there? gcloud iam service-accounts keys list --iam-account=ADDRESS",
            "google.auth.exceptions.RefreshError: ('invalid_grant: Bad Request', '{error: invalid_grant}')",
        ),
        Wording(
            r"(?:Permission denied on resource project |Project ')(?P<name>[^.'\"]{1,60}?)(?:\.|' not found or permission)|CONSUMER_INVALID",
            "The request names a project that does not exist or is not yours: mostly its display name (`<<name>>`) or number was given in place of its id.",
            'gcloud projects list                      # the column PROJECT_ID: lower case, without blanks\ngcloud config set project PROJECT_ID; gcloud auth application-default set-quota-project PROJECT_ID\naiplatform.init(project="PROJECT_ID")      # and wherever the script names it',
            'PermissionDenied: 403 Permission denied on resource project My First Project. [reason: "CONSUMER_INVALID"',
        ),
        Wording(
            r"(?:Permission|permission|permissions?:?) '?(?P<permission>aiplatform\.[\w.]{3,60})'?",
            "The account has no role with `<<permission>>` in this project.",
            "gcloud projects add-iam-policy-binding PROJECT --member=user:ME@EXAMPLE.COM --role=roles/aiplatform.user      # a service account: --member=serviceAccount:ADDRESS; administrators: roles/aiplatform.admin\ngcloud services enable aiplatform.googleapis.com      # the API itself",
            "ERROR: (gcloud.ai.tensorboards.create) PERMISSION_DENIED: Permission 'aiplatform.tensorboards.create' denied on resource '//aiplatform/projects/x' (or it may not exist).",
        ),
        Wording(
            r"(?:Required|Permission) '(?P<permission>compute\.[\w.]{3,60})'",
            "The account whose credentials this program uses has no role with `<<permission>>` in the project. Client libraries, ctpu and Terraform take the application-default account, which need not be gcloud's own: what works in Cloud Shell fails elsewhere with another account.",
            "gcloud auth list; gcloud config get project                                        # gcloud's account and project\ngcloud auth application-default login                                              # the account of client libraries: log in with the right one; GOOGLE_APPLICATION_CREDENTIALS names another\ngcloud projects add-iam-policy-binding PROJECT --member=user:ME@EXAMPLE.COM --role=roles/compute.viewer      # .get and .list; to create and delete: roles/compute.instanceAdmin.v1 and roles/tpu.admin",
            "Required 'compute.instances.list' permission for 'projects/my-project'",
        ),
        Wording(
            r"Permission '(?P<permission>tpu\.[\w.]{3,60})'",
            "The account has no role with `<<permission>>` in this project.",
            "gcloud projects add-iam-policy-binding PROJECT --member=user:ME@EXAMPLE.COM --role=roles/tpu.admin      # a service account: --member=serviceAccount:ADDRESS; to look only: roles/tpu.viewer\ngcloud config get project; gcloud auth list                                                                # the project and account that are meant?",
            "ERROR: (gcloud.compute.tpus.locations.list) PERMISSION_DENIED: Permission 'tpu.locations.list' denied on resource 'projects/x' (or it may not exist).",
        ),
    ),
    "E620": (
        Wording(
            r"(?:\W|^)(?P<name>gcloud|gsutil|bq)(?:: (?:command )?not found|$)|command not found: ?(?P<tool>gcloud|gsutil|bq)",
            "The Google Cloud SDK is not installed on this machine, or its folder is not in PATH.",
            'sudo snap install google-cloud-cli --classic      # or of the package source of Google: apt-get install google-cloud-cli; conda install -c conda-forge google-cloud-sdk; brew install google-cloud-sdk\ngcloud auth login; gcloud auth application-default login; gcloud config set project PROJECT_ID\nexport PATH="$HOME/google-cloud-sdk/bin:$PATH"                                                                      # where it is installed already: in ~/.bashrc; sudo and cron have a PATH of their own',
            "/bin/bash: gcloud: command not found",
        ),
    ),
    "E219 E918": (
        Wording(
            r"From /job:\w{1,20}/replica:\d{1,4}/task:(?P<task>\d{1,5}): ?(?P<path>/[^;\s]{1,200}?); ?Permission denied",
            "Worker <<task>> is to write to <<path>>, a path of the machine that started the job: on the other hosts there is no such user or folder.",
            'model_dir = "gs://BUCKET/run"      # summaries, checkpoints and logs: every host reaches a bucket\nwith tf.device("/job:localhost"): writer = tf.summary.create_file_writer("/tmp/logs")      # or written by the client alone',
            "PermissionDeniedError: From /job:worker/replica:0/task:2: /home/me/run; Permission denied [[{{node create_file_writer/CreateSummaryFileWriter}}]]",
        ),
        Wording(
            r"\[Errno 30\] Read-only file system: '(?P<path>/kaggle/input[^']{0,160})'",
            "/kaggle/input cannot be written to.",
            "path = '/kaggle/working/out'      # or /tmp; shutil.copytree('<<path>>', '/kaggle/working/copy') where a library writes beside what it reads",
            "OSError: [Errno 30] Read-only file system: '/kaggle/input/model'",
        ),
    ),
    "E880": (
        Wording(
            r"RecvBufResponse returned (?P<got>\d{1,12}) bytes where to_tensor expected (?P<wanted>\d{1,12})",
            "Two workers met in a collective operation with other tensors (<<got>> bytes against <<wanted>>): they do not run the same program in the same order. Mostly only the chief saves, evaluates or builds something, or their versions or data differ.",
            '# the same script, TensorFlow and steps on all workers; what saves runs on each, to a folder of its own:\npath = folder if task_index == 0 else f"/tmp/worker_{task_index}"; model.save(path)\nmodel.fit(dataset, steps_per_epoch=STEPS)                  # the same number of steps for all',
            "InternalError: RecvBufResponse returned 4 bytes where to_tensor expected 8",
        ),
    ),
    "E421": (
        Wording(
            r"Could not start gRPC server",
            "The port of this worker in TF_CONFIG is taken: by an earlier run that still lives, a notebook whose kernel made the strategy before, or a second worker on this machine with the same address.",
            "ss -ltnp | grep :2222                      # who holds it; kill it, or restart the notebook's kernel\nTF_CONFIG: a port of its own for each worker of a machine (host:2222, host:2223)",
            "UnknownError: Could not start gRPC server",
        ),
    ),
    "E281 E498": (
        Wording(
            r"__init__\(\) got an unexpected keyword argument 'return_tensors'",
            "The data collators of Transformers take return_tensors from 4.11 on, and this one is older.",
            'pip install -U "transformers>=4.11"',
            "TypeError: __init__() got an unexpected keyword argument 'return_tensors'",
        ),
        Wording(
            r"unexpected keyword argument '(?P<name>padding|truncation|add_special_tokens|return_attention_mask)'",
            "What is called is no tokenizer of Transformers 3 or later: an older one (pip shows it), Keras's Tokenizer, or a function of your own of that name.",
            'python -c "import transformers; print(transformers.__version__)"; pip install -U transformers\ninputs = tokenizer(texts, padding="max_length", truncation=True, max_length=128, return_tensors="tf")',
            "TypeError: tokenizer() got an unexpected keyword argument 'padding'",
        ),
    ),
    "E281": (
        Wording(
            r"cannot import name 'cached_download' from 'huggingface_hub'",
            "huggingface_hub 0.26 and later has no cached_download, and a package that is older than it asks for it (diffusers, sentence-transformers, transformers).",
            'pip install -U diffusers sentence-transformers transformers      # whichever stands in the traceback\npip install "huggingface_hub<0.26"                              # or the hub of its time',
            "ImportError: cannot import name 'cached_download' from 'huggingface_hub'",
        ),
        Wording(
            r"module 'pyarrow' has no attribute 'PyExtensionType'",
            "pyarrow 21 and later has no PyExtensionType, and this datasets is older.",
            'pip install -U datasets            # or: pip install "pyarrow<21"',
            "AttributeError: module 'pyarrow' has no attribute 'PyExtensionType'",
        ),
    ),
    "E118 E598": (
        Wording(
            r"Invalid bucket name: 'gs:'",
            "A path with gs:// went through a function of local paths (os.path, pathlib), which made `gs:/` of it.",
            'path = "gs://BUCKET/folder/" + name                    # no pathlib.Path, no os.path.normpath\npath = tf.io.gfile.join("gs://BUCKET/folder", name)',
            "gcsfs.retry.HttpError: Invalid bucket name: 'gs:', 400",
        ),
    ),
    "E109 E110": (
        Wording(
            r"OOM when allocating tensor with shape ?(?P<shape>\[[\d,]{1,60}\]) and type (?P<type>\w{1,12}) on /job:localhost/replica:0/task:0/device:CPU:0",
            "The host's memory (RAM) ran out, not the TPU's: a tensor <<shape>> of <<type>> was made on the CPU, as from_tensor_slices and tf.constant do with whole arrays.",
            "dataset = tf.data.TFRecordDataset(files).map(parse)      # or a generator, or np.load(..., mmap_mode='r'): piece by piece\nx = x.astype('uint8')                                      # a quarter of float32: divide by 255 in the model\ndataset = dataset.shuffle(1_000)                           # a smaller buffer; batch after map",
            "ResourceExhaustedError: OOM when allocating tensor with shape[60000,224,224,3] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
        ),
    ),
    "E428": (
        Wording(
            r"current incarnation doesn't match with one in the group",
            "A worker was started again while the others went on: they still hold its former connection.",
            '# end all workers, then start all of them; a supervisor must restart the whole group, not one\nkeras.callbacks.BackupAndRestore("gs://BUCKET/backup")      # and go on from where they were',
            "Collective ops is aborted by: Device /job:worker/replica:0/task:1/device:CPU:0 current incarnation doesn't match with one in the group.",
        ),
    ),
    "E210": (
        Wording(
            r"Failed to convert object of type <class 'dict'> to Tensor",
            "A dict stands where one tensor is wanted: an element or model output with names, a model's config, or a tokenizer's result that is used whole.",
            'x = element["image"]                                             # the part of it that is meant\ndataset = tf.data.Dataset.from_tensor_slices((dict(inputs), labels))      # names of inputs: a dict of arrays, of equal length\nprint(dataset.element_spec, model.input_names)',
            "TypeError: Failed to convert object of type <class 'dict'> to Tensor",
        ),
    ),
    "E496": (
        Wording(
            r"None of \[Index\(\[(?P<names>[^\]]{1,120})\].{0,60}? are in the \[columns\]",
            "The table has no columns <<names>>: they are named otherwise (blanks, capitals), the file has no header line, or another separator.",
            "print(repr(list(frame.columns)))                     # as they are; frame.columns = frame.columns.str.strip()\nframe = pd.read_csv(path, sep=';')                   # one long name is the sign of another separator; names=[...] without a header",
            "KeyError: \"None of [Index(['label'], dtype='object')] are in the [columns]\"",
        ),
        Wording(
            r"KeyError: 'TF_CONFIG'",
            "The script reads TF_CONFIG, which only a launcher of several workers sets (Vertex AI, Kubeflow, by hand): it is not needed on one machine or on TPUs.",
            'config = json.loads(os.environ.get("TF_CONFIG", "{}")); index = config.get("task", {}).get("index", 0)\nresolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # TPUs find their hosts without it',
            "KeyError: 'TF_CONFIG'",
        ),
    ),
    "E265": (
        Wording(
            r"line (?P<line>\d{1,5}).{0,60}?has no field named \"(?P<name>[A-Z])\"|(?P<row>\d{1,5}):\d{1,4} ?: .{0,120}?has no field named \"(?P<drive>[A-Z])\"",
            "The line of the configuration holds a path without quotes: its first letter (a Windows drive) is read as the name of a field.",
            'input_path: "C:/tensorflow/train.record"      # in quotes, with forward slashes; label_map_path and fine_tune_checkpoint too',
            'google.protobuf.text_format.ParseError: 135:19 : Message type "object_detection.protos.TFRecordInputReader" has no field named "D".',
        ),
    ),
    "E206": (
        Wording(
            r"cannot serialize a bytes object larger than 4 ?GiB",
            "An array of over 4 GiB is pickled to another process (use_multiprocessing=True, joblib, multiprocessing), which Python before 3.8 cannot.",
            "model.fit(generator, workers=1, use_multiprocessing=False)      # threads: nothing is pickled\ndataset = tf.data.Dataset.from_generator(generate, output_signature=...)      # or tf.data; arrays by np.load(path, mmap_mode='r') in each process\npython3.8 or later; pickle.dump(x, file, protocol=4)             # where it is a file",
            "OverflowError: cannot serialize a bytes object larger than 4 GiB",
        ),
    ),
    "E110": (
        Wording(
            r"Killed {1,40}python3? (?P<script>\S{0,60}?(?:create|prepare|preprocess|build|convert|make|tokeni)\w{0,30}\.py)",
            "<<script>> prepares data and holds all of its input (and what it makes of it) in memory.",
            "split -l 200000 corpus.txt part_; for f in part_*; do python <<script>> --input_file=$f --output_file=$f.tfrecord; done      # part by part; with a dupe_factor: several runs with other seeds\nfree -g; dmesg -T | grep -i 'killed process'                                                                                   # was it the memory?",
            "run.sh: line 14:  2331 Killed                  python3 create_pretraining_data.py --input_file data_1.txt",
        ),
    ),
    "E478": (
        Wording(
            r"google\.protobuf\.message\.DecodeError",
            "A file was read as a kind of message that it is not: a SavedModel's saved_model.pb read as a GraphDef (frozen graph) or the reverse, a text file (.pbtxt) read as binary, records that are no tf.train.Example, a pointer of git-lfs, or a file that was cut off.",
            'file MODEL.pb; head -c 80 MODEL.pb                    # text, some hundred bytes, a web page?\nmodel = tf.saved_model.load(FOLDER)                     # a folder with saved_model.pb and variables/\ngraph = tf.compat.v1.GraphDef(); graph.ParseFromString(tf.io.gfile.GFile("frozen.pb", "rb").read())      # a frozen graph\ntext_format.Parse(open("label_map.pbtxt").read(), message)      # text',
            "google.protobuf.message.DecodeError: Error parsing message",
        ),
    ),
}
