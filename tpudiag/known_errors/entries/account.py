# ruff: noqa: E501  (texts of other programs stay as they are)
"""The Google Cloud account, the network and Kubernetes: what refuses a TPU before it runs."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E230",
        family="billing",
        phase=Phase.CREATING,
        patterns=(
            r"cannot create a TPU Node on a project linked to a free-trial",
            r"free[- ]trial (?:billing )?account",
            r"[Bb]illing (?:account .{0,80}?(?:is )?(?:disabled|not (?:enabled|active|found))|must be enabled|has not been enabled|is disabled)",
            r"BILLING_DISABLED",
            r"account .{0,60}?delinquent",
        ),
        cause="The project has no billing account that may pay for a TPU: none is linked, it is disabled, or it is a free trial (TPUs are not part of it).",
        fix="""\
gcloud billing projects describe PROJECT                       # billingEnabled: true?
gcloud billing projects link PROJECT --billing-account=ACCOUNT
# free trial: upgrade the account in the console; for research: the TPU Research Cloud""",
        citations=("tensorflow/tpu#124",),
        example="googleapi: Error 403: cannot create a TPU Node on a project linked to a free-trial billing account, forbidden",
    ),
    KnownError(
        id="E231",
        family="quota",
        phase=Phase.CREATING,
        kind=Kind.BROAD,
        patterns=(
            r"quota metrics? exceed quota limits?: ?(?P<quota>[\w./]{1,90})",
            r"Quota '(?P<quota>\w{1,60})' exceeded",
            r"QUOTA_EXCEEDED",
            r"GCE quota exceeded",
            r"insufficient (?:regional |project )?quota(?: to satisfy request: resource \W{0,3}(?P<quota>\w{1,60}))?",
            r"Quota (?:limit )?exceeded for quota (?:metric|group) '(?P<quota>[^']{1,90})'",
            r"connect to (?:a )?(?:TPU|GPU).{0,60}?usage limits",
            r"weekly (?:TPU|GPU) (?:quota|limit)",
            r"TPU.{0,30}?weekly (?:quota|limit)",
        ),
        cause="A quota of the project is used up or zero: of machines, accelerators, addresses or requests; each kind, zone and class (on demand, spot) has its own.",
        details=("The quota is {quota}.",),
        fix="""\
gcloud compute regions describe REGION | grep -B1 -A2 QUOTA    # or the console: IAM, Quotas; ask for more there
# another zone or kind; delete what is left over: gcloud compute tpus tpu-vm list --zone=-""",
        citations=(
            "google-deepmind/xmanager#29",
            "GoogleCloudPlatform/ai-on-gke#849",
        ),
        example="google.api_core.exceptions.ResourceExhausted: 429 The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_training_tpu_v2",
        near_miss="the quota of this week is 20 hours",
    ),
    KnownError(
        id="E232",
        family="account-rights",
        phase=Phase.CREATING,
        kind=Kind.BROAD,
        patterns=(
            r"API \[tpu\.googleapis\.com\] not enabled",
            r"\.googleapis\.com.{0,200}?(?:has not been used in project|it is disabled|SERVICE_DISABLED)",
            r"has not been used in project .{0,40}? before or it is disabled",
            r"insufficient authentication scopes",
            r"ACCESS_TOKEN_SCOPE_INSUFFICIENT",
            r"Request is missing required authentication credential",
            r"auth\.exceptions\.RefreshError",
            r"does not have access to service account",
            r"invalid_grant",
            r"Request had invalid authentication credentials",
            r"Invalid Credentials.{0,60}?(?:401|authError)",
            r"Reauthentication is needed",
            r"Permission '?(?P<permission>[a-z]{2,20}\.\w{2,40}\.\w{2,30})'? denied",
            r"Required '?(?P<permission>[a-z]{2,20}\.\w{2,40}\.\w{2,30})'? permission",
            r"Constraint constraints/(?P<constraint>[\w.]{3,80}) violated",
            r"does not have (?:permission|access) to (?:act as|use) (?:the )?service account",
            r"active account does not have any valid credentials",
            r"The caller does not have permission",
            r"Insufficient OAuth2 scope",
            r"Your default credentials were not found",
            r"Permission denied on resource project ",
            r"Project .{1,80}? not found or permission denied",
            r"reason:? ?\"?CONSUMER_INVALID",
            r"credentials are invalid\. Please run",
        ),
        cause="The account or the VM may not do what was asked: an API is not switched on, the VM was made without the scope, the login has run out, a role is missing, or the organisation forbids it (external addresses, a region).",
        details=(
            "The permission is {permission}.",
            "The constraint is {constraint}.",
        ),
        fix="""\
gcloud auth list; gcloud config get project                    # who and where
gcloud services enable tpu.googleapis.com                      # or the API that is named
gcloud auth application-default login                          # a login that ran out
gcloud projects add-iam-policy-binding PROJECT --member=MEMBER --role=roles/tpu.admin
# scopes are fixed when the VM is made: --scopes=cloud-platform; vmExternalIpAccess: --internal-ips and Cloud NAT""",
        evidence="recalled",
        example="API [tpu.googleapis.com] not enabled on project [123]. Would you like to enable and retry?",
        yields_to=("E26", "E57", "E60"),
    ),
    KnownError(
        id="E233",
        family="network-of-the-vm",
        phase=Phase.CREATING,
        patterns=(
            r"IP_SPACE_EXHAUSTED",
            r"IP space of .{0,120}? is exhausted",
            r"subnetwork .{0,120}? (?:was )?not found",
            r"network .{0,60}?default.{0,40}? (?:was |does )?not (?:found|exist)",
            r"[Ii]nsufficient (?:free )?IP addresses",
        ),
        cause="The network in which the TPU's hosts are to be has no address left, or does not exist in that project and region.",
        fix="""\
gcloud compute networks subnets list --regions=REGION
gcloud compute networks subnets expand-ip-range SUBNET --region=REGION --prefix-length=20
gcloud compute tpus tpu-vm create NAME --network=NETWORK --subnetwork=SUBNET ...""",
        evidence="recalled",
        example="IP_SPACE_EXHAUSTED: Instance creation failed: IP space of 'projects/x/regions/us-central1/subnetworks/default' is exhausted.",
    ),
    KnownError(
        id="E234",
        family="ssh-to-the-vm",
        phase=Phase.CONNECTING,
        patterns=(
            r"gcloud\.[\w.-]{0,60}?ssh\).{0,160}?exited with return code",
            r"ssh: connect to host \S{1,60} port 22: (?P<why>[\w ]{5,40})",
            r"Permission denied \(publickey",
            r"kex_exchange_identification",
            r"REMOTE HOST IDENTIFICATION HAS CHANGED",
            r"##### Command execution on worker (?P<worker>\d{1,4}) failed with",
            r"Could not SSH into the instance",
            r"tpu-vm\.scp\)",
            r"Command execution on worker (?P<worker>\d{1,4}) failed with exit status",
            r"Failed to execute command on multiple workers",
            r"SSH key was not found in the SSH agent",
            r"start-iap-tunnel\) .{3,120}",
            r"tpu-vm\.ssh\) .{0,20}?(?:Could not|[Ff]ailed)",
            r"Host key verification failed",
            r"client_loop: send disconnect",
        ),
        cause="ssh to a worker of the TPU failed: no key of this user there yet, a firewall without port 22, no external address, the worker is being repaired, or the command that was run there failed.",
        details=("It is worker {worker}.",),
        fix="""\
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=0 --dry-run       # the plain command: run it with -v
ssh-add ~/.ssh/google_compute_engine                                        # for --worker=all
gcloud compute firewall-rules create allow-ssh --allow=tcp:22 --source-ranges=35.235.240.0/20
gcloud alpha compute tpus tpu-vm ssh NAME --zone=ZONE --tunnel-through-iap  # without an external address
# `Command execution ... failed with exit status`: the log of that worker tells why""",
        evidence="recalled",
        example="ssh: connect to host 34.1.2.3 port 22: Connection timed out",
        near_miss="git@server: Permission denied, please try again.",
        yields_to=("E57",),
    ),
    KnownError(
        id="E235",
        family="gke-scheduling",
        phase=Phase.CREATING,
        patterns=(
            r"Insufficient google\.com/tpu",
            r"google\.com/tpu.{0,200}?(?:Unschedulable|FailedScheduling|must be|invalid|untolerated taint)",
            r"(?:Unschedulable|FailedScheduling).{0,400}?google\.com/tpu",
            r"(?:FailedScheduling|nodes are available).{0,300}?cloud\.google\.com/gke-tpu",
            r"[Ii]nvalid (?:TPU )?topology",
            r"gke-tpu-topology.{0,120}?(?:invalid|not (?:valid|supported)|does not match)",
            r"node\(s\) didn't match Pod's node affinity",
            r"node\(s\) had untolerated taint",
            r"pod didn.t trigger scale-up",
        ),
        cause="Kubernetes finds no node for the pod: no free TPU node of that accelerator and topology, a request that is not exactly the chips of a node, a missing toleration, or a topology that this accelerator does not have.",
        fix="""\
kubectl describe pod POD | tail -20
kubectl get nodes -L cloud.google.com/gke-tpu-accelerator,cloud.google.com/gke-tpu-topology
# in the pod: nodeSelector with both labels; resources.limits "google.com/tpu" = all chips of a node (v5e 2x4: 8, 4x4: 4 a node)
# a multi-host slice: one Job with completions = parallelism = number of nodes (or a JobSet)""",
        evidence="recalled",
        example="0/3 nodes are available: 3 Insufficient google.com/tpu. preemption: 0/3 nodes are available: 3 No preemption victims found.",
        near_miss="0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
    ),
    KnownError(
        id="E236",
        family="bucket-precondition",
        phase=Phase.SAVING,
        patterns=(
            r"HTTP response code 412",
            r"conditionNotMet",
            r"PreconditionFailed: 412",
            r"412 Precondition Failed",
            r"pre-conditions you specified did not hold",
            r"exceeded the rate limit for object mutation",
            r"rateLimitExceeded.{0,200}?(?:object|bucket)",
        ),
        cause="The object in the bucket changed while it was read or written: two processes write the same file (checkpoint, event file, cache), or a file is overwritten more than once a second; or a download goes on in a file that was replaced.",
        fix="""\
model_dir = f"gs://BUCKET/run-{worker}"                          # a folder of its own for each writer; the chief alone writes checkpoints
keras.callbacks.TensorBoard(log_dir, update_freq=1000)           # fewer flushes to one object (once a second at most)
# a reader: read again, the file was replaced; a lifecycle rule or a second job may delete it meanwhile""",
        citations=("kserve/kserve#762",),
        example='FailedPreconditionError: Error executing an HTTP request: HTTP response code 412 with body \'{"error": {"code": 412, "message": "At least one of the pre-conditions you specified did not hold."',
    ),
)
