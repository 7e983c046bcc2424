# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of the TPU's runtime: metadata, coordination."""

from __future__ import annotations

from .wording import Wording, Wordings

RUNTIME: Wordings = {
    "E55": (
        Wording(
            r"Failed to get TPU metadata \(tpu-env\) from instance metadata for variable (?P<name>\w{3,40})",
            "libtpu asks the metadata server what TPU this is (<<name>> and others), and cannot reach it: a container without the host's network (Docker, Kubernetes, gVisor), or a machine that is no TPU VM. It asks again and again before it gives up, so that the first call of a device seems to hang.",
            "docker run --privileged --net=host --shm-size=16g IMAGE python train.py      # the host's network and its devices\n# without either: say what the metadata would say, then no server is asked\nexport TPU_SKIP_MDS_QUERY=1 TPU_ACCELERATOR_TYPE=v5litepod-8 TPU_WORKER_ID=0 TPU_WORKER_HOSTNAMES=localhost\nexport TPU_CHIPS_PER_HOST_BOUNDS=2,4,1 TPU_HOST_BOUNDS=1,1,1                # one host with 8 chips (4 chips: 2,2,1)",
            "Failed to get TPU metadata (tpu-env) from instance metadata for variable CHIPS_PER_HOST_BOUNDS: INTERNAL: Couldn't connect to server",
        ),
        Wording(
            r"metadata\.google\.internal.{0,500}?(?:Connection ?refused|Errno 111)|(?:Connection ?refused|Errno 111).{0,300}?metadata\.google\.internal",
            "The metadata server is refused here: the program runs in a container without the host's network, and the TPU VM's metadata (kind, worker, hosts) cannot be asked.",
            "docker run --privileged --net=host --shm-size=16g IMAGE python train.py      # the host's network and its devices\n# without either: say what the metadata would say, then no server is asked\nexport TPU_SKIP_MDS_QUERY=1 TPU_ACCELERATOR_TYPE=v5litepod-8 TPU_WORKER_ID=0 TPU_WORKER_HOSTNAMES=localhost",
            "requests.exceptions.ConnectionError: HTTPConnectionPool(host='metadata.google.internal', port=80): Max retries exceeded with url: /computeMetadata/v1/instance/attributes/tpu-env (Caused by NewConnectionError('Failed to establish a new connection: [Errno 111] Connection refused'))",
        ),
        Wording(
            r"metadata\.google\.internal.{0,500}?(?:Name or service not known|name resolution|nodename nor servname|No address associated|getaddrinfo failed)",
            "The name of the metadata server is unknown here: this machine is not on Google Cloud (a notebook service, a machine of your own), or a container that has no name service.",
            'resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # the TPU is in this machine: no look-up\nexport TPU_SKIP_MDS_QUERY=1                                                       # libtpu: asks nobody; a container: --net=host',
            "urllib3.exceptions.MaxRetryError: HTTPConnectionPool(host='metadata.google.internal', port=80): Max retries exceeded with url: /computeMetadata/v1/ (Caused by NewConnectionError('[Errno -2] Name or service not known'))",
        ),
    ),
    "E112 E453": (
        Wording(
            r"different incarnation|incarnation ID mismatch|task has restarted and likely crashed",
            "One task came back as a new process while the others still ran: it had ended (an exception, out of memory, a crash, preempted) and was started again alone. The reason stands in its own log before the restart; all tasks must start again together.",
            "gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=TASK --command=\"grep -nE 'Error|Killed|SIGTERM' train.log | head -3; sudo dmesg -T | grep -iE 'oom|killed' | tail -3\"\ngcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command=\"pkill -f train.py; python3 train.py\"      # all at once, from the last checkpoint\n# an orchestrator: restart the whole job, not one pod (JobSet; backoffLimit: 0)",
            "ABORTED: /job:jax_worker/replica:0/task:11 unexpectedly tried to connect with a different incarnation. It has likely restarted.",
        ),
        Wording(
            r"Either the leader task was preempted|PollForError.{0,300}?Socket closed|leader task (?:has )?(?:died|crashed)",
            "The leader went away: process 0, which runs the coordination service, ended (an exception, out of memory, preempted), and all others end with it. Its log says why, not this one.",
            "gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=0 --command=\"tail -50 train.log; sudo dmesg -T | grep -iE 'oom|killed' | tail -3\"      # process 0\npython -u train.py 2>&1 | tee train.log                # unbuffered: its last lines are not lost\ngcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state)'      # PREEMPTED?",
            "UNAVAILABLE: Failed to send RPC to coordination service. Either the leader task was preempted/died/restarted unexpectedly or this task is experiencing network issues.",
        ),
    ),
    "E03": (
        Wording(
            r"(?:Requested backend tpu|Unable to initialize backend 'tpu').{0,200}?TpuPlatform is not available",
            "JAX finds no TPU in this machine: its backend `tpu` is libtpu on a TPU VM. The TPU of an old notebook service is a TPU Node, which JAX reached over the network under another name (tpu_driver), up to release 0.4.0.",
            '# leave backend=\'tpu\' out, and see what there is\npython -c "import jax; print(jax.devices())"\npip install -U "jax[tpu]"                       # on a TPU VM (Colab and Kaggle today): the release with its libtpu\njax.tools.colab_tpu.setup_tpu()                    # only with jax before 0.4 and a TPU Node: before anything else of JAX',
            "RuntimeError: Requested backend tpu, but it failed to initialize: INVALID_ARGUMENT: TpuPlatform is not available.",
        ),
    ),
    "E56": (
        Wording(
            r"Failed to open the gRPC driver: 12:",
            "The TPU Node answers and does not know what is asked (status 12, unimplemented): it runs TensorFlow's software, and JAX needs its own driver there. TPU Nodes and this way to reach them are gone: JAX runs on a TPU VM.",
            'gcloud compute tpus tpu-vm create NAME --zone=ZONE --accelerator-type=v5litepod-8 --version=v2-alpha-tpuv5-lite\npip install -U "jax[tpu]"      # on it; no XLA_FLAGS, no JAX_XLA_BACKEND=tpu_driver, no address',
            "E external/org_tensorflow/tensorflow/compiler/xla/python/tpu_driver/grpc_tpu_driver.cc:1068] Failed to open the gRPC driver: 12: :",
        ),
    ),
}
