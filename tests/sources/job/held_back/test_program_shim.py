"""Programs that may send: which of their commands do."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tpudiag.sources.job.held_back import program_shim

SEND = """
git push origin main
git -C /repo -c user.name=x push --force
git lfs push origin main
gsutil -m cp -r runs gs://bucket/runs
gsutil rm gs://bucket/x
gsutil rsync -r out gs://bucket/out
gcloud storage cp model gs://bucket/m
gcloud storage rm gs://bucket/m
gcloud compute tpus tpu-vm delete my-tpu --zone=z
gcloud ai models upload --region=r
aws s3 cp model s3://bucket/m
aws s3 rm s3://bucket/m
aws s3api put-object --bucket b --key k
aws sns publish --message done
kaggle datasets version -p out -m new
kaggle competitions submit -c c -f s.csv -m m
hf upload me/model .
wandb sync wandb/offline-run
rsync -av out host:/backup
scp model user@host:/models
ssh host rm -rf /x
curl -X POST https://hooks.slack.com/services/T/B/X
curl -sXPOST -d '{"text": "done"}' https://hooks.slack.com/services/T/B/X
curl -T model.h5 https://files.example/model.h5
curl --data-binary @model.h5 https://files.example/
curl -F file=@model https://files.example/
wget --post-data=a=b https://files.example/
gh release upload v1 model.h5
docker push me/image
mail -s done me@example.com
sbatch next.sh
dvc push
"""
READ = """
git pull --rebase
git status
git -C /repo rev-parse HEAD
git stash push
gsutil ls gs://bucket
gsutil -m cp gs://bucket/data .
gcloud storage cp gs://bucket/data .
gcloud storage ls gs://bucket
gcloud config set project p
gcloud auth print-access-token
gcloud compute tpus tpu-vm list --zone=z
aws s3 cp s3://bucket/data .
aws s3 ls s3://bucket
aws sts get-caller-identity
aws s3api get-object --bucket b --key k out
kaggle datasets download -d me/data
kaggle competitions download -c c
hf download me/model
huggingface-cli download me/model
rsync -av host:/data .
scp host:/data data
curl -O https://files.example/data.zip
curl -sSfL https://files.example/data.zip -o data.zip
curl -G -d q=x https://files.example/search
curl -X POST http://localhost:8000/predict -d x
curl -d grant_type=refresh_token https://oauth2.googleapis.com/token
wget -q https://files.example/data.zip
docker pull me/image
gh release download v1
dvc pull
"""


COMMANDS = {SEND: True, READ: False}


@pytest.mark.parametrize(
    ("command", "sends"),
    [(line, sends) for text, sends in COMMANDS.items() for line in text.strip().splitlines()],
)
def test_whether_a_command_sends(command: str, sends: bool) -> None:
    program, *arguments = shlex.split(command)
    assert program_shim.sends(program, arguments) is sends


def test_the_real_program_runs_for_what_reads(tmp_path: Path) -> None:
    real, own, noted = tmp_path / "real", tmp_path / "own", tmp_path / "sends"
    for folder in (real, own):
        folder.mkdir()
    (real / "git").write_text('#!/bin/sh\necho "real $*"\nexit 3\n')
    (real / "git").chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{own}:{real}:{os.environ['PATH']}",
        program_shim.PROGRAMS: str(own), program_shim.FILE: str(noted), program_shim.LINE: "a.py:3",
    }  # fmt: skip

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-S", "-E", program_shim.__file__, *arguments],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    assert run("git", "log", "a b") == (3, "real log a b\n")
    assert not noted.exists()
    assert run("git", "push", "origin") == (0, "")
    assert json.loads(noted.read_text()) == ["push", "git push", "a.py:3"]
    assert run("twine", "check")[0] == 1, "as a program that is not there"
