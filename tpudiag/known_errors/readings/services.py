# ruff: noqa: E501  (what is pasted stays in one piece)
"""What ssh and the cloud's services say of a refusal, and how a JAX array does not divide."""

from __future__ import annotations

import re

from .meaning import Reading, first_over

_SERVICES: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), cause, fix)
    for pattern, cause, fix in (
        (
            r"Permissiondenied\(publickey",
            "The machine does not know this user's key: it was never sent, OS Login decides on keys, or ssh runs as another user (root, in a container) than gcloud did.",
            "gcloud compute tpus tpu-vm ssh USER@NAME --zone=ZONE --ssh-key-file=~/.ssh/google_compute_engine      # as the user who owns the key; it sends the key again\n"
            "gcloud compute os-login ssh-keys add --key-file=~/.ssh/google_compute_engine.pub                         # where OS Login is on",
        ),
        (
            r"port22:Connectionrefused",
            "The machine answers but has no ssh yet: it still starts, or sshd died (host memory full).",
            "gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'      # READY? wait a minute and try again; else stop and start it",
        ),
        (
            r"port22:(?:Connectiontimedout|Operationtimedout|Noroutetohost)",
            "Nothing comes through to port 22: a firewall rule is missing, the machine has no external address, or it is gone.",
            "gcloud compute firewall-rules create allow-ssh --network=NETWORK --allow=tcp:22\n"
            "gcloud alpha compute tpus tpu-vm ssh NAME --zone=ZONE --tunnel-through-iap      # without an external address",
        ),
        (
            r"closedbyremotehost|Brokenpipe|client_loop:senddisconnect",
            "The session was up and broke: idle for too long, the machine was preempted or under maintenance, or its memory ran out.",
            'gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --ssh-flag="-o ServerAliveInterval=30"\n'
            "tmux new -s train 'python3 train.py 2>&1 | tee train.log'                        # the job goes on without the session\n"
            "gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'      # PREEMPTED?",
        ),
        (
            r"Hostkeyverificationfailed|HOSTIDENTIFICATIONHASCHANGED",
            "Another machine had this address before: its key is still in known_hosts.",
            "ssh-keygen -R ADDRESS -f ~/.ssh/google_compute_known_hosts",
        ),
        (
            r"insufficientauthenticationscopes|InsufficientOAuth2scope",
            "The machine that asks was made with too few access scopes: its service account may not speak to that service, whatever its roles.",
            "gcloud compute instances stop VM --zone=ZONE && gcloud compute instances set-service-account VM --zone=ZONE --scopes=cloud-platform && gcloud compute instances start VM --zone=ZONE",
        ),
        (
            r"hasnotbeenusedinproject|itisdisabled\.Enableit|APIhasnotbeen",
            "The service is not switched on in that project.",
            "gcloud services enable tpu.googleapis.com compute.googleapis.com storage.googleapis.com --project=PROJECT      # wait a minute",
        ),
        (
            r"(?:Read)?accesstoproject'?[\w<>-]{1,60}'?wasdenied",
            "This account may not see that project's TPUs: the project's name is wrong (an id is wanted, not the display name), the account is another one, or the zone is none in which the project may use TPUs (a grant of the TPU Research Cloud holds for its own zones, and ends).",
            "gcloud projects list; gcloud config set project PROJECT_ID; gcloud auth login\n"
            "gcloud compute tpus tpu-vm list --zone=ZONE_OF_THE_GRANT      # each command takes --zone; gcloud config set compute/zone ZONE",
        ),
        (
            r"Permission'(?:tpu|compute|storage|iam)[\w.]{3,60}'(?:denied|deniedon)",
            "The account lacks a role in that project.",
            "gcloud projects add-iam-policy-binding PROJECT --member=user:YOU --role=roles/tpu.admin      # roles/iam.serviceAccountUser as well, to make machines",
        ),
    )
)
_DIVIDED = re.compile(
    r"(?:arrayaxis|dimension)(?P<axis>\d{1,2})(?:is)?(?:partitioned|shouldbedivisibleby|divisibleby)(?P<parts>\d{1,6})"
    r"(?:times)?,?but(?:thedimensionsizeis|itisequalto)(?P<size>\d{1,9})"
)
_MAPPED = re.compile(
    r"hadsize(?P<a>\d{1,7}).{0,200}?axishadsize(?P<b>\d{1,7}):axis\d{1,2}of(?P<name>[\w.\[\]']{1,40}?)oftype"
)


def read(text: str, begin: int, end: int) -> Reading | None:
    """What ssh or a service says, or by what a dimension of a JAX array does not divide."""
    of_ssh = "ssh" in text[begin:end]  # whose last line says only that it ended
    for form, cause, fix in _SERVICES:
        if first_over(form, text, begin, end) or (of_ssh and form.search(text)):
            return Reading(cause, fix)
    if told := _DIVIDED.search(text, begin):
        axis, parts, size = told["axis"], int(told["parts"]), int(told["size"])
        return Reading(
            f"Dimension {axis} has {size} and is cut into {parts}: {size} is no multiple of {parts}; the next one is {-(-size // parts) * parts}.",
            f"x = jnp.pad(x, [(0, {-size % parts}) if axis == {axis} else (0, 0) for axis in range(x.ndim)])      # to {-(-size // parts) * parts}; or a batch that is a multiple of {parts}",
        )
    if told := _MAPPED.search(text, begin):
        return Reading(
            f"pmap maps the first axis of all arguments over one number of devices: most have {told['a']}, {told['name']} has {told['b']}."
            " One was made for jax.device_count() devices (split keys, sharded batch), the other was replicated for another number.",
            "n = jax.local_device_count(); keys = jax.random.split(key, n); params = flax.jax_utils.replicate(params); batch = batch.reshape(n, -1, *batch.shape[1:])",
        )
    return None
