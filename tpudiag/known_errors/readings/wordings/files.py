# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of checkpoints, saved models and buckets."""

from __future__ import annotations

from .wording import Wording, Wordings

FILES: Wordings = {
    "E122": (
        Wording(
            r"load a weight file containing (?P<saved>\d{1,5}) layers into a model with (?P<model>\d{1,5}) layers",
            "The file holds the weights of <<saved>> layers and the model has <<model>>: the model is built otherwise than the one that was saved (a top that was left out, a wrapper around a base model, an unbuilt model of 0 layers).",
            "model = build_model_as_it_was_saved(); model.load_weights(path)      # the same code: include_top, the head, the number of classes\nmodel.build((None, *SHAPE))                                           # first, where the model has 0 layers (subclass, Sequential without Input)\nmodel.load_weights(path, by_name=True, skip_mismatch=True)            # .h5: what has the same name; the rest stays as it is",
            "ValueError: You are trying to load a weight file containing 16 layers into a model with 0 layers.",
        ),
        Wording(
            r"Cannot assign value to variable .{0,160}?Shape mismatch",
            "A weight of the file has another shape than the variable: another number of classes, vocabulary, width or input size.",
            "model.load_weights(path, skip_mismatch=True)      # keeps the new head, loads the rest (.weights.h5 and .h5)\nTFModel.from_pretrained(name, num_labels=N, ignore_mismatched_sizes=True)      # Transformers",
            "ValueError: Cannot assign value to variable ' dense/kernel:0': Shape mismatch.The variable shape (64, 10), and the assigned value shape (64, 100) are incompatible.",
        ),
        Wording(
            r"axes don't match array",
            "Weights are loaded into layers of another kind or order (a transposed kernel): the model's layers, its trainable flags, or the Keras that saved it differ.",
            "model.load_weights(path)      # before layers are frozen or unfrozen: set trainable as it was when the file was saved\n# or load in the release that saved it, and save again as .weights.h5",
            "ValueError: axes don't match array",
        ),
    ),
    "E477": (
        Wording(
            r"does not appear to be object-based|not an object-based checkpoint",
            "The checkpoint is TensorFlow 1's (by name), and tf.train.Checkpoint of TensorFlow 2 reads by object.",
            "python -m official.nlp.tools.tf2_encoder_checkpoint_converter ...      # BERT: convert it once (Model Garden)\nfor name, shape in tf.train.list_variables(path): variable_of(name).assign(tf.train.load_variable(path, name))      # or by hand, by name\n# Object Detection API: take the TensorFlow 2 zoo's checkpoint (ckpt-0), fine_tune_checkpoint_version: V2",
            "ValueError: The checkpoint at model.ckpt does not appear to be object-based.",
        ),
    ),
    "E07": (
        Wording(
            r"'(?P<name>(?:Addons>|Text>|TFText|Grpc|ImageProjectiveTransform|BipartiteMatch|Resampler|Sentencepiece|Wordpiece|Normalize|DecodeDICOM|IO>)\w{0,60})'",
            "`<<name>>` is an operation of a library that the client has loaded (tf.contrib.image, Addons, Text, an operation of the project's own): the TPU Node's worker has no such library, whatever its version. Only where TensorFlow itself has an operation of that name in a later release is the node merely too old.",
            "# in place of it an operation of TensorFlow's own, or done beforehand: what the pipeline needs is written into the TFRecord files\nwith tf.device('/job:localhost'): ...      # an operation that serves the client stays there (servers, queues of the project's own)\n# a TPU VM: there the libraries of the machine are those of the worker",
            "Op type not registered 'ImageProjectiveTransformV2' in binary running on n-3a08239c-w-0.",
        ),
        Wording(
            r"filesystem registered under the 'gs://' scheme was not a",
            "A TPU whose TensorFlow is of another release than the client's does not take credentials that are uploaded to it (tf.contrib.cloud.configure_gcs, ConfigureGcsHook; Colab's older notebooks do it).",
            "# leave configure_gcs out, and give the TPU's own service account the right to the bucket:\ngcloud storage buckets add-iam-policy-binding gs://BUCKET --member=serviceAccount:service-NUMBER@cloud-tpu.iam.gserviceaccount.com --role=roles/storage.objectAdmin\nfrom cloud_tpu_client import Client; Client().configure_tpu_version(tf.__version__, restart_type=\"ifNeeded\")      # the TPU's TensorFlow the same version as the client's",
            "InternalError: From /job:tpu_worker/replica:0/task:0: The filesystem registered under the 'gs://' scheme was not a tensorflow::RetryingGcsFileSystem*.",
        ),
        Wording(
            r"NodeDef mentions attr '(?P<name>\w{1,60})' not in Op",
            "The graph was made by a newer TensorFlow than the one that runs it: `<<name>>` is unknown there. On a TPU Node the one is the client, the other the node's release; with a saved model or frozen graph the one is where it was saved.",
            'pip install "tensorflow==VERSION_OF_THE_TPU_NODE"      # a TPU Node: the same release on both sides\npip install -U tensorflow                              # a saved graph: at least the release that wrote it',
            "InvalidArgumentError: NodeDef mentions attr 'Truncate' not in Op<name=Cast>",
        ),
    ),
    "E478 E122 E129": (
        Wording(
            r"version https://git-lfs|without having git-lfs installed|invalid load key, ?'v'",
            "The file is a pointer of git-lfs (some hundred bytes of text), not the weights: the repository was cloned without git-lfs.",
            "git lfs install && git lfs pull      # in the clone; ls -l shows the true size then",
            "UnpicklingError: invalid load key, 'v'. version https://git-lfs.github.com/spec/v1",
        ),
        Wording(
            r"Unable to open table file .{1,200}?\.(?:data-\d{5}|index|meta)",
            "A single file of the checkpoint (.data-..., .index, .meta) is named where its prefix is wanted.",
            'init_checkpoint="gs://BUCKET/model.ckpt-1000"      # up to the number: no .index, .meta, .data-00000-of-00001',
            "DataLossError: Unable to open table file gs://b/model.ckpt.data-00000-of-00001: Data loss: not an sstable (bad magic number): perhaps your file is in a different file format",
        ),
        Wording(
            r"Unable to open table file .{1,260}?(?:Is a directory|is a directory)|Unable to open table file .{1,160}?Failed precondition",
            "The path of the checkpoint is a folder; the prefix of the files in it is wanted.",
            'tf.train.latest_checkpoint("gs://BUCKET/folder")      # gives folder/model.ckpt-1000; or write the prefix yourself',
            "DataLossError: Unable to open table file ./model: Failed precondition: ./model; Is a directory: perhaps your file is in a different file format",
        ),
    ),
    "E121": (
        Wording(
            r"matching files (?:for|on) ram://",
            "A model saved in TensorFlow's memory file system, or copied (deepcopy, pickle, clone of a SavedModel) under a TPU strategy: its variables are looked for on the worker, which has no such file. With a saved model of files the same holds for local paths.",
            'options = tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")\nmodel = tf.keras.models.load_model(path, options=options)      # the client reads the files\nsave = tf.saved_model.SaveOptions(experimental_io_device="/job:localhost"); model.save(path, options=save)',
            "NotFoundError: Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ram://2f1e6b3a/variables/variables",
        ),
    ),
    "E25": (
        Wording(
            r"scheme '\[local\]' not implemented.{0,20}?\(file: '(?P<path>/tmp/tmp\w{4,12}/[^']{1,200})'",
            "The output folder was not given: TensorFlow made one up (<<path>>) on the client's disk, and the TPU Node's worker cannot write there.",
            '--model_dir=gs://BUCKET/run      # the flag of this script: output_dir, train_dir; RunConfig(model_dir="gs://BUCKET/run")',
            "UnimplementedError: File system scheme '[local]' not implemented (file: '/tmp/tmpUUrctt/model.ckpt-0_temp_3546763f')",
        ),
        Wording(
            r"scheme '\[local\]' not implemented.{0,20}?\(file: '(?P<path>[^']{1,200})'\).{0,20}?\[Op:ReadFile\]",
            "tf.io.read_file is called in plain Python, but since the TPU Node was connected to every operation runs on its worker, which cannot see <<path>> on the client.",
            'data = open("<<path>>", "rb").read()                       # Python reads on the client; then tf.io.decode_jpeg(data)\nwith tf.device("/job:localhost"): data = tf.io.read_file(path)      # or TensorFlow, on the client\npath = "gs://BUCKET/data/..."                              # in a dataset: files in a bucket',
            "UnimplementedError: {{function_node __wrapped__ReadFile_device_/job:worker/replica:0/task:0/device:CPU:0}} File system scheme '[local]' not implemented (file: './data/train/1.png') [Op:ReadFile]",
        ),
        Wording(
            r"(?:ModelCheckpoint|SaveV2|MergeV2Checkpoints|SaveSlices|_temp/part-|save_weights|[/\w.-]{1,120}_temp).{0,400}?scheme '\[local\]' not implemented|scheme '\[local\]' not implemented.{0,300}?(?:SaveV2|_temp/part|MergeV2)",
            "The checkpoint or model is to be written to a path of the client, and the TPU Node's worker writes it.",
            'options = tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")\nmodel.save(path, options=options)                                                       # the client writes\nmodel.save_weights(path, options=tf.train.CheckpointOptions(experimental_io_device="/job:localhost"))\ntf.keras.callbacks.ModelCheckpoint("gs://BUCKET/ckpt-{epoch}")                          # or a bucket',
            "UnimplementedError: File system scheme '[local]' not implemented (file: 'ckpt_temp/part-00000-of-00001') [[SaveV2]]",
        ),
        Wording(
            r"scheme '\[local\]' not implemented.{0,20}?\(file: '(?P<path>[^']{0,200}tensorflow_datasets[^']{0,200})'",
            "TensorFlow Datasets prepared the data in the client's home, which the TPU Node's worker cannot read.",
            'dataset = tfds.load(NAME, data_dir="gs://BUCKET/tfds", try_gcs=True)      # in a bucket; try_gcs reads ready-made copies\ndataset = tf.data.Dataset.from_tensor_slices(arrays)                       # a small set: batch_size=-1 and arrays in memory',
            "UnimplementedError: File system scheme '[local]' not implemented (file: '/root/tensorflow_datasets/coco/coco-train.tfrecord')",
        ),
    ),
    "E26": (
        Wording(
            r"Insufficient Permission\b|insufficientPermissions|insufficient authentication scopes",
            "The machine's access token is without the scope for storage: the VM, node pool or job was made without it (or read-only), so that roles of the account do not help.",
            "gcloud compute instances stop VM; gcloud compute instances set-service-account VM --scopes=cloud-platform; gcloud compute instances start VM\n# a TPU VM, a cluster, a pipeline's node pool: made anew with --scopes=cloud-platform (node pools: --scopes, or Workload Identity)\ngcloud storage ls gs://BUCKET      # and the bucket must exist",
            "PermissionDeniedError: Error executing an HTTP request: HTTP response code 403 with body 'Insufficient Permission' when initiating an upload to gs://b/x",
        ),
        Wording(
            r"Anonymous caller does not have",
            "Nobody is logged in: the bucket is read without any account.",
            "gcloud auth application-default login            # a machine of your own\nfrom google.colab import auth; auth.authenticate_user()      # Colab, before TensorFlow touches gs://\n# Kaggle: attach Google Cloud in the notebook's menu, or KaggleDatasets().get_gcs_path()",
            "Anonymous caller does not have storage.objects.get access",
        ),
    ),
    "E129": (
        Wording(
            r"truncated record at [1-9]",
            "A TFRecord file is cut off in the middle of a record: it was not written to its end (the program that wrote it was killed or did not close its writer, the disk or quota was full), is still being written, or was downloaded or copied in part.",
            "for path in tf.io.gfile.glob(pattern):                     # which file: the one that ends there\n    try: n = sum(1 for _ in tf.data.TFRecordDataset(path))\n    except tf.errors.DataLossError as error: print(path, error)\nls -l PATH; gsutil ls -l gs://BUCKET/PATH                 # its size beside that of its source; then write or fetch this one again\nwith tf.io.TFRecordWriter(path) as writer: ...             # closed in every case",
            "DataLossError: truncated record at 136219998 [[{{node IteratorGetNext}}]]",
        ),
        Wording(
            r"corrupted record at [1-9]",
            "A TFRecord file is whole up to the byte that is told, and what comes there has a wrong check sum: two programs wrote into one file, a writer went on in a file that another run had begun, the copy or download is damaged, or the disk, memory or network mount gives wrong bytes (another place at every run).",
            "for path in tf.io.gfile.glob(pattern):                     # which file; twice: the same place?\n    try: n = sum(1 for _ in tf.data.TFRecordDataset(path))\n    except tf.errors.DataLossError as error: print(path, error)\nmd5sum PATH; gsutil hash -m gs://BUCKET/PATH              # the same as at its source? else fetch it again\n# another place each time: copy the file to another disk; no number of writers but one for each file",
            "DataLossError: corrupted record at 775087002",
        ),
    ),
    "E130": (
        Wording(
            r"Feature list '(?P<feature>[\w/.-]{1,60})' is required but could not be found",
            "A SequenceExample is parsed, and this record has no feature list `<<feature>>`: the records are plain tf.train.Example (where a list of numbers or words is a VarLenFeature), the name is another one, or this record's list is empty.",
            'raw = next(iter(tf.data.TFRecordDataset(path))).numpy()\nprint(tf.train.Example.FromString(raw)); print(tf.train.SequenceExample.FromString(raw))      # which of them is readable\ntf.io.parse_single_example(raw, {"<<feature>>": tf.io.VarLenFeature(tf.string)})               # an Example\nsequence_features = {"<<feature>>": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)}      # a list that may lack',
            "InvalidArgumentError: Name: <unknown>, Feature list 'goods' is required but could not be found.",
        ),
    ),
    "E522": (
        Wording(
            r"sharded dimension must be equal to the number of devices passed to PmapSharding",
            "pmap lays one slice on each device, and the first dimension of this array is not the number of devices: a state that was saved or made without replication (or replicated for other devices) goes into pmap, or a batch was not split by device.",
            "state = flax.jax_utils.replicate(flax.jax_utils.unreplicate(state))      # as many slices as there are devices\nbatch = batch.reshape(jax.local_device_count(), -1, *batch.shape[1:])\nsaved = flax.jax_utils.unreplicate(state)      # before a checkpoint is written; replicate after it is restored\nprint(jax.tree.map(lambda x: x.shape, state), jax.local_device_count())",
            "ValueError: The sharded dimension must be equal to the number of devices passed to PmapSharding.",
        ),
    ),
}
