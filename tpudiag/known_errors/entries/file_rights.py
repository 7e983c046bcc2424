# ruff: noqa: E501  (texts of other programs stay as they are)
"""Files and folders that this user may not write or read."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E918",
        family="file-system",
        phase=Phase.SAVING,
        patterns=(
            r"\[Errno 13\] Permission denied: b?'(?P<file>(?!/dev/|gs:)[^']{1,200})'",
            r"\[Errno 30\] Read-only file system: b?'(?P<file>[^']{1,200})'",
            r"PermissionDeniedError: (?P<file>(?!/dev/|gs:)[\w./~+-]{1,200}); ?Permission denied",
            r"(?:PermissionDenied|FailedPrecondition|Unknown)Error: (?P<file>(?!gs:)[\w./~+-]{1,200}); ?Read-only file system",
            r"recursive_create_dir.{0,300}?PermissionDeniedError: (?P<file>(?!Error|From|gs:)[\w./~+-]{1,120})",
        ),
        cause="The user that runs the program has no right to write (or read) at that path of this machine.",
        details=("The path is {file}.",),
        fix="""\
ls -ld "<<file>>" "$(dirname "<<file>>")"; id -un; mount | grep -w ro      # whose is it, who am I, mounted read-only?
sudo chown -R "$USER" FOLDER                                             # never /, /tmp or a home itself: the one folder that is yours by right, made by sudo or another user
# or another place: --model_dir=$HOME/run, log_dir="./logs", TMPDIR=$HOME/tmp, HF_HOME and TFDS_DATA_DIR likewise; all hosts: gs://BUCKET/run""",
        rivals=(
            Rival(
                cause="the folder was made by another user, mostly by an earlier run with sudo or by a colleague's in /tmp",
                look_for="a name in /tmp, ~/.cache, ~/.config, ~/.keras; ls -ld shows root or another owner",
                decide='ls -ld "$(dirname "<<file>>")"',
                fix='sudo chown -R "$USER" FOLDER      # the one folder of yours that ls shows as another\'s; never /, /tmp or a home itself\nexport TMPDIR=$HOME/tmp; mkdir -p "$TMPDIR"                         # or a folder of your own; never half of the runs with sudo',
                cues=(
                    r"Permission denied: b?'/tmp/[\w.]",
                    r"PermissionDeniedError: /tmp/[\w.]",
                    r"Permission denied: b?'/(?:home/[\w.-]{1,40}|root)/\.\w",
                    r"PermissionDeniedError: /(?:home/[\w.-]{1,40}|root)/\.\w",
                ),
            ),
            Rival(
                cause="the path begins at the root of the disk because its beginning was lost: an empty variable (`$DIR/logs`), `/logs` where `logs` was meant",
                look_for="a short path right under /",
                decide='echo "[$MODEL_DIR]"',
                fix='log_dir = os.path.join(os.path.expanduser("~"), "logs")      # or "./logs"; in shell scripts: set -u stops at an empty variable',
                cues=(
                    r"Permission denied: b?'/(?!tmp|home|usr|opt|root|mnt|kaggle|content|var|etc|data|workspace|dev|proc|sys)[\w.-]{1,40}(?:/[\w.-]{1,40})?(?:'|; ?Permission)",
                    r"PermissionDeniedError: /(?!tmp|home|usr|opt|root|mnt|kaggle|content|var|etc|data|workspace|dev|proc|sys)[\w.-]{1,40}(?:/[\w.-]{1,40})?(?:'|; ?Permission)",
                ),
            ),
            Rival(
                cause="the place is mounted read-only: an input folder (/kaggle/input, a dataset disk, a bundle, a container's root)",
                look_for="`Read-only file system`, /kaggle/input, readOnlyRootFilesystem",
                decide="mount | grep ' ro[,)]'",
                fix="cp -r FOLDER /tmp/work      # what is to be written goes elsewhere: /kaggle/working, /tmp, a volume that may be written",
                cues=(r"Read-only file system", r"Permission denied: b?'/kaggle/input"),
            ),
            Rival(
                cause="it is a place of the system, which only root may change",
                look_for="/usr, /opt, /etc, /var, site-packages",
                decide='ls -ld "<<file>>"',
                fix="python -m venv ~/tpu && source ~/tpu/bin/activate      # packages: an environment of your own, not sudo pip",
                cues=(
                    r"Permission denied: b?'/(?:usr|opt|etc|var|lib)/",
                    r"PermissionDeniedError: /(?:usr|opt|etc|var|lib)/",
                ),
            ),
        ),
        useless="To run everything with sudo: root has another environment, and what it leaves belongs to root.",
        citations=(
            "tflearn/tflearn#358",
            "tensorflow/tensorboard#2010",
            "matterport/Mask_RCNN#690",
        ),
        example="PermissionError: [Errno 13] Permission denied: '/tmp/.tensorboard-info/pid-10141.info'",
        near_miss="git@server: Permission denied (publickey).",
        yields_to=("E06", "E26", "E897", "E478"),
    ),
)
