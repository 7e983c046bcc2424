# ruff: noqa: E501  (texts of other programs stay as they are)
"""TPUs that are not there yet: unknown, not ready, refused."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E57",
        family="tpu-lookup",
        phase=Phase.RESOLVING,
        patterns=(
            r"Could not lookup TPU metadata from name",
            r"TPU.{0,30}?named? .{0,60}? (?:was )?not found",
            r"Please doublecheck the tpu argument",
            r"tpu\.nodes\.\w{2,12}",
            r"locations/[\w-]{1,40}/nodes/[\w-]{1,60}'? (?:was )?not found",
            r"Cloud TPU API has not been used in project",
            r"insufficient authentication scopes.{0,200}?tpu",
            r"tpu\.googleapis\.com.{0,200}?(?:PERMISSION_DENIED|403|404|NOT_FOUND)",
            r"You need to specify.{0,40}?zone.{0,40}?TPU",
            r"tpu-vm\.(?:ssh|scp|describe|delete|stop|start)\) .{0,40}?NOT_FOUND",
            r"zones/[\w-]{1,40}/tpus/[\w-]{1,60}'? (?:was )?not found",
            r"404 Resource 'projects/[\w-]{1,60}/locations/[\w-]{1,40}/nodes/[\w-]{1,60}",
            r"nodes/[\w-]{1,60}\?alt=json returned .{0,10}?Resource.{0,160}?not found",
            r"unable to find (?:a )?TPU .{0,60}?in (?:zone|project)",
        ),
        cause="The Cloud TPU API knows no TPU of that name in that zone and project, or this account may not ask.",
        fix="""\
gcloud compute tpus tpu-vm list --zone=ZONE --project=PROJECT        # name, zone and state
gcloud services enable tpu.googleapis.com --project=PROJECT
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME", zone="ZONE", project="PROJECT")
# on the TPU VM itself: tpu="local\"""",
        citations=("tensorflow/tensorflow#53296",),
        evidence="recalled",
        example="ValueError: Could not lookup TPU metadata from name 'my-tpu'. Please doublecheck the tpu argument in the TPUClusterResolver constructor.",
    ),
    KnownError(
        id="E58",
        family="tpu-not-ready",
        phase=Phase.CONNECTING,
        patterns=(
            r"TPU.{0,80}? is not yet ready; state",
            r"RuntimeError: .{0,10}?TPU.{0,80}? is unhealthy",
            r"TPU .{1,60}? is not HEALTHY yet",
            r"preempted_hook\.py.{0,300}?KeyError: 'health",
            r"UNHEALTHY_(?:TENSORFLOW|MAINTENANCE)",
            r"health:? .{0,3}UNHEALTHY",
            r"TPU.{0,60}?state:? ?.{0,3}(?:TERMINATED|STOPPED|REPAIRING)",
            r"in the terminal state .{0,3}(?:TERMINATED|FAILED)",
        ),
        cause="The TPU exists and is not ready: it is being created, repaired or restarted, or its runtime does not start.",
        fix="""\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE      # state, health, symptoms
# UNHEALTHY for more than some minutes: delete it and create it again, with the runtime version of your TensorFlow""",
        evidence="recalled",
        example='RuntimeError: TPU "my-tpu" is not yet ready; state: "CREATING"',
        yields_to=("E757",),
    ),
    KnownError(
        id="E59",
        family="no-capacity",
        phase=Phase.CREATING,
        patterns=(
            r"There is no more capacity in the zone",
            r"Insufficient (?:reserved )?capacity",
            r"ZONE_RESOURCE_POOL_EXHAUSTED",
            r"does not have enough resources available to fulfill the request",
            r"cannot currently connect to a TPU due to usage limits",
            r"no TPUs? (?:is|are) (?:currently )?available",
            r"no TPUs? available.{0,80}?(?:use|queue|later)",
            r"TPU (?:backend|runtime)s? (?:is |are )?(?:not|currently un)available",
            r"cannot (?:currently )?connect to a (?:GPU|TPU) due to usage limits",
            r"All TPUs? (?:are|is) (?:currently )?in use",
            r"Failed to assign a backend",
            r"No backend with (?:TPU|GPU) available",
        ),
        cause="The zone has no free TPU of that kind now (or the reservation is used up): it is not your quota and no error of yours.",
        fix="""\
# another zone that offers the type, a queued resource that waits for capacity, or a spot TPU:
gcloud compute tpus locations list
gcloud compute tpus queued-resources create REQUEST --node-id=NAME --zone=ZONE --accelerator-type=v5litepod-8 --runtime-version=VERSION""",
        citations=(
            "thevasudevgupta/gsoc-wav2vec2#11",
            "skypilot-org/skypilot#4579",
            "hashicorp/terraform-provider-google#21243",
        ),
        example='ERROR: (gcloud.compute.tpus.create) There is no more capacity in the zone "europe-west4-a"; you can try in another zone where Cloud TPU Nodes are offered',
    ),
    KnownError(
        id="E165",
        family="type-or-version-of-tpu",
        phase=Phase.CREATING,
        patterns=(
            r"accelerator type.{0,80}?(?:not found|not available|invalid|unsupported|is not supported)",
            r"acceleratorTypes?/.{0,80}?(?:not found|not available|invalid|unsupported)",
            r"runtime version.{0,80}?(?:not found|not available|invalid|unsupported|is not supported)",
            r"(?:invalid|unknown|unsupported) accelerator type",
            r"(?:invalid|unknown|unsupported) runtime version",
            r"TensorFlow version not available",
            r"accelerator .{0,40}?was not found in zone",
            r"invalid tensorflow version",
            r"could not create GCE Instance without a base image",
            r"TensorFlow version not available",
            r"""field "?TensorflowVersion"? cannot be""",
            r"Tensorflow version .{1,24}? is not available on Cloud TPU",
        ),
        cause="The accelerator type does not exist in that zone, or the runtime version does not exist or does not fit the generation.",
        fix="""\
gcloud compute tpus accelerator-types list --zone=ZONE       # the types there: v5litepod-8, v5p-8, v6e-8
gcloud compute tpus versions list --zone=ZONE                # tpu-vm-tf-X.Y.Z-pjrt; v5e: v2-alpha-tpuv5-lite""",
        evidence="recalled",
        example="ERROR: (gcloud.compute.tpus.tpu-vm.create) INVALID_ARGUMENT: Invalid runtime version tpu-vm-tf-9.9.9",
    ),
    KnownError(
        id="E60",
        family="quota",
        phase=Phase.CREATING,
        patterns=(
            r"Quota limit '(?P<quota>\w{0,20}TPU\w{0,60})' has been exceeded",
            r"Quota exceeded.{0,80}?TPU",
            r"exceeded quota.{0,80}?TPU",
            r"quota metric '?tpu\.googleapis",
            r"TPU quota",
            r"USER_PROJECT_DENIED.{0,120}?tpu",
        ),
        cause="The project's quota for this kind of TPU in this zone or region is used up or zero (preemptible and on-demand TPUs have quotas of their own).",
        details=("The quota is {quota}.",),
        fix="""\
# ask for it in the console: IAM and admin, Quotas, filter "TPU", the region and the kind (preemptible or not)
gcloud compute tpus tpu-vm list --zone=ZONE          # what uses it: delete what is not needed
gcloud compute tpus tpu-vm create NAME --zone=ANOTHER_ZONE ... --spot     # or the kind that you have quota for""",
        citations=("marin-community/marin#1612",),
        example="\"Quota limit 'TPUV6EPreemptiblePerProjectPerRegionForTPUAPI' has been exceeded. Limit: 0 in region us-east5.\"",
    ),
    KnownError(
        id="E30",
        family="worker-not-up",
        phase=Phase.CONNECTING,
        level="warning",
        patterns=(
            r"The TPU worker may not be ready \(still scheduling\)",
            r"TPU .{1,80}? is not yet running; state",
        ),
        cause="The TPU worker does not answer: it is not up yet or not healthy, or its address is not reached from here.",
        fix="gcloud compute tpus list --zone=ZONE        # wait for READY and HEALTHY; else delete it and create it again",
        rivals=(
            Rival(
                cause="it is being created, restarted or repaired, was preempted, or is no more",
                look_for="CREATING, RESTARTING, PREEMPTED in the list",
                decide="gcloud compute tpus list --zone=ZONE",
                cues=(r"is not yet running; state", r"UNHEALTHY", r"PREEMPTED"),
            ),
            Rival(
                cause="the program runs where that address cannot be reached: 10.x.x.x of a TPU Node is known inside its own network alone, not on a laptop, in Colab or in another VPC",
                look_for="grpc://10.…, and a path of a laptop (/Users/, C:\\) or /content/ in the log",
                decide="nc -vz ADDRESS 8470",
                fix="gcloud compute ssh VM --zone=ZONE_OF_THE_TPU     # a VM of the same network and zone, and start it there",
                cues=(r"/Users/\w", r"C:\\Users"),
            ),
            Rival(
                cause="the name, zone, project or address is another TPU's",
                look_for="the address after `got` against that of the list",
                decide="gcloud compute tpus describe NAME --zone=ZONE",
            ),
        ),
        citations=(
            "google-research/text-to-text-transfer-transformer#38",
            "mgrankin/ru_transformers#21",
        ),
        example="WARNING:tensorflow:Retrying to connect. The TPU worker may not be ready (still scheduling) or the Tensorflow master address is incorrect",
        near_miss="The TPU worker is ready (scheduling took 12 s)",
    ),
    KnownError(
        id="E31",
        family="hosts-missing",
        phase=Phase.INITIALISING,
        level="warning",
        patterns=(
            r"TPU backend initialization is taking more than (?P<seconds>[\d.]{1,8}) seconds\. Did you run your code on all TPU hosts",
            r"Did you run your code on all TPU hosts",
        ),
        cause="The program was started on some hosts of the TPU slice only, and waits for the others.",
        details=("It has waited {seconds} s.",),
        fix='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"',
        citations=(
            "google-research/t5x#997",
            "jax-ml/jax#19971",
        ),
        example="UserWarning: TPU backend initialization is taking more than 60.0 seconds. Did you run your code on all TPU hosts?",
        near_miss="TPU backend initialization is taking 12.0 seconds.",
    ),
    KnownError(
        id="E166",
        family="no-xla-device",
        phase=Phase.RESOLVING,
        kind=Kind.BROAD,
        patterns=(
            r"Missing XLA configuration",
            r"XRT_TPU_CONFIG",
            r"(?:Expected|set|missing|requires?) .{0,20}?PJRT_DEVICE.{0,30}?(?:set|missing|environment|libtpu)",
            r"PJRT_DEVICE=TPU but",
        ),
        cause="PyTorch/XLA was not told which device to use (the old XRT configuration is missing).",
        fix="export PJRT_DEVICE=TPU          # on a TPU VM; unset XRT_TPU_CONFIG and COLAB_TPU_ADDR",
        evidence="recalled",
        example="RuntimeError: tensorflow/compiler/xla/xla_client/computation_client.cc:273 : Missing XLA configuration",
    ),
)
