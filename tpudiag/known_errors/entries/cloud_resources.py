# ruff: noqa: E501  (texts of other programs stay as they are)
"""What stands in the way of a new TPU, and values that are taken for something else."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E540",
        family="name-taken",
        phase=Phase.CREATING,
        patterns=(
            r"ALREADY_EXISTS: .{0,20}?Resource .{0,160}?already exists",
            r"(?:nodes|queuedResources|nodePools|clusters|instances)/(?P<name>[\w-]{1,60}).{0,12}? already exists",
            r"(?<!/)TPU (?P<name>[\w-]{1,60}) already exists",
            r"already_exists.{0,60}?(?:nodes?\b|queued|TPU (?:node|VM)|tpu-vm)",
        ),
        cause="A TPU (or queued resource, node pool) of that name exists in this project and zone, maybe half made, stopped or preempted: a second one needs another name.",
        details=("It is {name}.",),
        fix="""\
gcloud compute tpus tpu-vm list --zone=ZONE; gcloud compute tpus queued-resources list --zone=ZONE      # what is there, in which state
gcloud compute tpus tpu-vm delete NAME --zone=ZONE --quiet                       # a dead one blocks its name
gcloud compute tpus queued-resources delete NAME --zone=ZONE --force --quiet     # a queued resource outlives its TPU
gcloud compute tpus tpu-vm create NAME-2 --zone=ZONE ...                          # or another name""",
        citations=("skypilot-org/skypilot#129",),
        example="ERROR: (gcloud.compute.tpus.create) ALREADY_EXISTS: Resource 'projects/p/locations/us-central1-a/nodes/tpu-1' already exists",
    ),
    KnownError(
        id="E541",
        family="network-of-the-vm",
        phase=Phase.CREATING,
        patterns=(
            r"CIDR range.{0,160}?(?:conflicts?|overlap|invalid|in use)",
            r"conflicts with another subnet",
            r"(?:IP|address) range .{0,80}?(?:conflicts?|overlap|in use|not available)",
            r"(?:VPC|network) peering .{0,80}?(?:fail|limit|exceed|not)",
            r"subnet\w{0,6} .{0,120}?(?:does not exist|must be in|no secondary range|Private Google Access)",
        ),
        cause="The address range or network asked for the TPU does not fit the project's network: it overlaps another subnet or a peering, or the subnet is not in the TPU's region.",
        fix="""\
gcloud compute networks subnets list --network=NETWORK; gcloud compute networks peerings list      # ranges that are taken
gcloud compute tpus tpu-vm create NAME --zone=ZONE --network=NETWORK --subnetwork=SUBNET_OF_THE_REGION ...     # a TPU VM takes an address of the subnet: no --range
# Terraform: leave cidr_block out, or a free /29; google_tpu_v2_vm in place of google_tpu_node""",
        citations=("hashicorp/terraform-provider-google#11895",),
        example='Error code 3, message: Cloud TPU received an invalid argument. The \'CIDR Range\' value "10.2.0.0/29" on network "n" conflicts with another subnet or object',
    ),
    KnownError(
        id="E543",
        family="dataset-misused",
        phase=Phase.READING,
        patterns=(
            r"Failed to convert object of type <class '[\w.]{0,80}?(?P<type>_?\w{0,30}(?:Dataset|Iterator)\w{0,12})'> to (?:a )?Tensor",
            r"unsupported type \(<class '[\w.]{0,80}?(?P<type>_?\w{0,30}(?:Dataset|Iterator)\w{0,12})'>\) to a Tensor",
            r"Invalid argument .{0,40}?(?P<type>\w{0,30}Dataset) .{0,60}?Expected .{0,30}?Tensor",
            r"Attempt to convert a value \(<\w{0,20}Dataset",
        ),
        cause="A whole dataset (or its iterator) is given where one tensor is expected: to an operation, a layer, a loss, or by dataset.apply, which hands the dataset itself to its function where map hands over the elements.",
        details=("It is a {type}.",),
        fix="""\
dataset = dataset.map(function)                          # map: function gets elements; apply: function gets the dataset and returns one
for batch in dataset.take(1): y = model(batch[0])        # or model.predict(dataset): not model(dataset)
x = np.concatenate(list(dataset.as_numpy_iterator()))     # all of it as one array, where it fits in memory
index.index_from_dataset(candidates.batch(100).map(lambda c: (c, tower(c))))     # TensorFlow Recommenders""",
        citations=("tensorflow/tensorflow#34080", "fickaz/TFRS-on-Retail-Data#2"),
        example="ValueError: Attempt to convert a value (<MapDataset shapes: (None, 32), types: tf.float32>) with an unsupported type (<class 'tensorflow.python.data.ops.dataset_ops.MapDataset'>) to a Tensor.",
        yields_to=("E143",),
    ),
    KnownError(
        id="E544",
        family="shape-argument",
        phase=Phase.BUILDING,
        patterns=(
            r"Dimension value must be integer or None",
            r"Error converting (?:shape|\w{1,20}) to a TensorShape",
            r"Cannot convert .{0,80}? to (?:a )?(?:TensorShape|Dimension|shape)",
            r"TypeError: Dimension .{0,60}?(?:must|cannot)",
            r"Dimension -?\d{1,9} must be >= 0",
            r"Failed to convert .{0,120}? to (?:a )?[Ss]hape",
            r"int\(\) argument must be .{0,120}?(?:TensorShape|Dimension|shape|tuple)",
            r"Shapes must be 1D sequences of (?:concrete values of )?integer",
            r"Only provide the `?(?:input_)?shape`? OR `?batch_input_shape",
            r"Please provide to Input a `?shape`? or",
            r"Specified input shape is not one of the valid types",
        ),
        cause="Something that is no shape stands where a shape is expected: a type in second place (tf.zeros(n, shape)), a tensor or None among the sizes, a float from a division, a nested tuple.",
        fix="""\
tf.Variable(initial, dtype=tf.float32, shape=[None, 8]); tf.zeros(shape=[8, 16], dtype=tf.float32)     # arguments by their names
height = int(size * 0.5); height = size // 2                  # not size / 2: a float is no size
tf.TensorShape([None, 224, 224, 3])                            # one flat list; output_shapes of from_generator: one TensorShape for each component
tf.reshape(x, [tf.shape(x)[0], -1])                            # a size known at run time only: tf.shape, not x.shape""",
        citations=("tensorflow/tensorflow#47149",),
        example="TypeError: Dimension value must be integer or None or have an __index__ method, got value 'tf.float32'",
        yields_to=("P30",),
    ),
    KnownError(
        id="E545",
        family="mismatched-keras",
        phase=Phase.BUILDING,
        patterns=(
            r"'NoneType' object has no attribute '(?:extended|_default_strategy|in_cross_replica_context)'",
            r"(?:strategy|extended)\.py.{0,300}?'NoneType' object has no attribute",
        ),
        cause="A variable or an optimizer is asked for its strategy and has none: parts of two Keras (tf_keras in transformers or TensorFlow Hub, Keras 3 around it) meet under one strategy, or the part was made outside its scope.",
        fix="""\
export TF_USE_LEGACY_KERAS=1                # before TensorFlow is imported: one Keras, that of transformers and the Hub
pip install --no-deps "<<keras2>>"                # the release of your TensorFlow
with strategy.scope():                      # all that makes variables, the pretrained part too
    bert = TFBertModel.from_pretrained(name); model = build(bert); model.compile(...)""",
        rivals=(
            Rival(
                cause="two Keras: a tf_keras model (transformers, Hub) inside a Keras 3 model",
                look_for="keras/src and tf_keras in one traceback; TensorFlow 2.16 or newer",
                decide='python -c "import keras, tensorflow as tf; print(keras.__version__, tf.keras.__version__)"',
                cues=(r"tf_keras", r"transformers/", r"tensorflow_hub"),
                families=("two-keras", "keras-3-elsewhere"),
            ),
            Rival(
                cause="the pretrained part was made before, outside strategy.scope()",
                look_for="from_pretrained or hub.KerasLayer above the `with`",
                decide='grep -nE "scope\\(\\)|from_pretrained|KerasLayer" train.py',
                families=("outside-scope",),
            ),
        ),
        citations=("tensorflow/tensorflow#73288",),
        example="AttributeError: 'NoneType' object has no attribute 'extended'",
    ),
    KnownError(
        id="E456",
        family="type-or-version-of-tpu",
        phase=Phase.CREATING,
        patterns=(
            r"Invalid machine type .{1,60}? in zone",
            r"machine type '?[\w-]{3,40}'? (?:does not exist|was not found)",
            r"acceleratorTypes/(?P<type>[\w-]{3,40})'? was not found",
            r"accelerator.{0,60}? not (?:available|supported|offered|found) in (?:the )?(?:zone|region|location)",
            r"TPU.{0,60}? not available in (?:the )?(?:zone|region|location)",
            r"runtime version .{1,60}? (?:not (?:found|supported|available)|does not exist|is invalid)",
            r"software version .{1,60}? (?:not (?:found|supported|available)|does not exist|is invalid)",
            r"Invalid value for .{0,40}?accelerator[ -]?type",
            r"Location .{1,60}? is not found or access is unauthorized",
            r"(?:zone|location|region) .{1,60}? does not (?:offer|support|have) .{0,30}?TPU",
        ),
        cause="That zone does not offer this TPU type, machine type or software version, or the name is misspelt.",
        details=("The type is {type}.",),
        fix="""\
gcloud compute tpus locations list                                        # zones with TPUs
gcloud compute tpus accelerator-types list --zone=ZONE                    # v5litepod-8 (v5e), v5p-8, v6e-8, v4-8, v3-8
gcloud compute tpus tpu-vm versions list --zone=ZONE
gcloud compute machine-types list --zones=ZONE --filter="name~ct"         # GKE: ct5lp-hightpu-8t (v5e), ct6e-standard-8t (v6e), ct5p-hightpu-4t""",
        citations=("keras-team/kinetic#305",),
        example='googleapi: Error 400: Invalid machine type "e2-standard-4" in zone "us-central2-b": GCE_NOT_FOUND',
        yields_to=("E165",),
    ),
    KnownError(
        id="E457",
        family="quota",
        phase=Phase.CREATING,
        patterns=(
            r"Quota '?(?P<quota>TPU\w{3,80})'? exhausted",
            r"Quota '?(?P<quota>TPU\w{3,80})'? exceeded",
            r"Quota (?:limit )?'?(?P<quota>[\w-]{3,90})'? exhausted",
            r"Quota (?:limit )?'?(?P<quota>[\w-]{3,90})'? has been (?:exceeded|exhausted)",
            r"exceeds? (?:the )?project(?:'s)? quota",
            r"TPU.{0,60}?quota (?:limit )?(?:of \d{1,6} )?exceeded",
            r"not enough quota.{0,60}?TPU",
            r"is forbidden: exceeded quota",
        ),
        cause="The project's quota of TPUs of this kind (per zone, on demand or spot) is used up or zero; queued resources that are suspended or failed count too.",
        details=("The quota is {quota}.",),
        fix="""\
gcloud compute tpus queued-resources list --zone=ZONE                     # SUSPENDED and FAILED ones hold quota
gcloud compute tpus queued-resources delete REQUEST --zone=ZONE --force --quiet
gcloud compute tpus tpu-vm list --zone=-                                  # what still runs; delete what is not needed
# else ask for more in the console (IAM, Quotas: filter 'TPU'), or take the kind and zone of your grant (--spot)""",
        citations=("marin-community/marin#87",),
        example="Quota 'TPUV4sPreemptiblePodPerProjectPerRegionForTPUAPI' exhausted. Limit 20800 in region us-central2",
        yields_to=("E60",),
    ),
    KnownError(
        id="E458",
        family="no-capacity",
        phase=Phase.CREATING,
        patterns=(
            r"(?:INTERRUPTED_BY|FAILED_TO_START_DUE_TO)_NO_CAPACITY",
            r"GCE_STOCKOUT",
            r"(?:ZONE|REGION)_RESOURCE_POOL_EXHAUSTED",
            r"resource pool exhausted",
            r"(?:TPU|accelerator|capacity|zone).{0,60}? out of stock",
            r"(?:TPU|accelerator|capacity|zone).{0,60}? stockout",
            r"not enough (?:resources|capacity) available to fulfil",
            r"(?:Insufficient|no available|No more) (?:TPU )?capacity",
            r"queued[- ]?resource.{0,160}?(?:SUSPENDED|FAILED(?!_)|timed? ?out|not enough)",
            r"ResourcesUnavailableError",
            r"Failed to (?:acquire|provision) .{0,40}?(?:resources|TPU|nodes?).{0,120}?(?:capacity|zone|spot|reserv)",
            r"currently unavailable in the .{0,40}?zone",
            r"lack of capacity",
            r"not currently have sufficient capacity",
        ),
        cause="There is no free TPU of this kind in the zone now (or the spot one was taken back): nothing is wrong with the request.",
        fix="""\
gcloud compute tpus queued-resources create REQUEST --node-id=NAME --zone=ZONE --accelerator-type=TYPE --runtime-version=VERSION --spot
gcloud compute tpus queued-resources describe REQUEST --zone=ZONE --format='value(state)'      # ACCEPTED, WAITING, then ACTIVE; SUSPENDED: delete and ask again
# another zone or generation, a smaller slice, another hour; --reserved only where the project has a reservation""",
        citations=("dstackai/dstack#1397", "dstackai/dstack#1386"),
        example="Run failed: INTERRUPTED_BY_NO_CAPACITY",
        yields_to=("E59", "E457", "E60"),
    ),
)
