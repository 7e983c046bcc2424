"""Which requests send, and which read."""

import json

import pytest

from tpudiag.sources.job.held_back import request_rules

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


SENDS = [
    ("POST", "hooks.slack.com/services/T000/B000/XXXX", '{"text": "done"}'),
    ("POST", "discord.com/api/webhooks/1/abc", '{"content": "done"}'),
    ("POST", "api.telegram.org/bot1:2/sendMessage", "chat_id=1&text=done"),
    ("GET", "api.telegram.org/bot1:2/sendMessage?chat_id=1&text=done", ""),
    ("PUT", "bucket.s3.amazonaws.com/run/ckpt-1", "bytes"),
    ("DELETE", "storage.googleapis.com/storage/v1/b/bucket/o/a", ""),
    ("PATCH", "storage.googleapis.com/storage/v1/b/bucket/o/a", "{}"),
    ("POST", "storage.googleapis.com/upload/storage/v1/b/bucket/o?uploadType=resumable", "{}"),
    ("POST", "huggingface.co/api/repos/create", '{"name": "m"}'),
    ("POST", "huggingface.co/api/models/me/get-x/commit/main", "{}"),
    ("POST", "huggingface.co/me/m.git/info/lfs/objects/batch", '{"operation": "upload"}'),
    ("POST", "api.wandb.ai/graphql", '{"query": "mutation Upsert { a }"}'),
    ("POST", "mlflow.corp/api/2.0/mlflow/runs/log-metric", '{"key": "loss"}'),
    ("POST", "bigquery.googleapis.com/v2/projects/p/queries", '{"query": "INSERT INTO t x"}'),
    ("POST", "dynamodb.aws.com/", "", ),
    ("POST", "10.0.0.7/anything", "{}"),
]  # fmt: skip
READS = [
    ("GET", "storage.googleapis.com/storage/v1/b/bucket/o", ""),
    ("HEAD", "huggingface.co/bert/resolve/main/config.json", ""),
    ("POST", "oauth2.googleapis.com/token", "grant_type=refresh_token&refresh_token=x"),
    ("POST", "login.microsoftonline.com/t/oauth2/v2.0/token", "grant_type=client_credentials"),
    ("POST", "iamcredentials.googleapis.com/v1/x:generateAccessToken", "{}"),
    ("POST", "sts.amazonaws.com/", "Action=AssumeRole&RoleArn=x"),
    ("POST", "huggingface.co/api/models/me/log-reg/paths-info/main", '{"paths": ["a"]}'),
    ("POST", "huggingface.co/me/m.git/info/lfs/objects/batch", '{"operation": "download"}'),
    ("POST", "api.kaggle.com/v1/datasets.DatasetApiService/DownloadDataset", "{}"),
    ("POST", "api.wandb.ai/graphql", '{"query": "query Viewer { viewer { id } }"}'),
    ("POST", "api.github.com/graphql", '{"query": "{ repository { id } }"}'),
    ("POST", "bigquery.googleapis.com/v2/projects/p/queries", '{"query": "SELECT 1"}'),
    ("POST", "bigquery.googleapis.com/v2/projects/p/jobs",
     json.dumps({"configuration": {"query": {"query": "-- all\nSELECT * FROM t"}}})),
    ("POST", "search.corp/index/_search", '{"query": {"match_all": {}}}'),
    ("POST", "mlflow.corp/api/2.0/mlflow/runs/search", "{}"),
    ("POST", "dynamodb.aws.com/", ""),
    ("POST", "localhost/anything", "{}"),
    ("DELETE", "127.0.0.1/api/sessions", ""),
    ("PUT", "169.254.169.254/latest/api/token", ""),
    ("POST", "[::1]/anything", "{}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "url", "body", "sends"),
    [*((*row, True) for row in SENDS), *((*row, False) for row in READS)],
)
def test_whether_a_request_sends(method: str, url: str, body: str, sends: bool) -> None:
    host, slash, path = url.partition("/")
    kind = JSON if body.startswith("{") else FORM
    target = "DynamoDB_20120810." + ("PutItem" if sends else "GetItem")
    headers = {"content-type": kind, "x-amz-target": target * (not body)}
    assert request_rules.sends(method, host, slash + path, headers, body.encode()) is sends


def test_no_question_is_so_long() -> None:
    body = b"grant_type=" + b"x" * request_rules.LIMIT_BYTES
    assert request_rules.sends("POST", "a.example", "/token", {"content-type": FORM}, body)


def test_what_a_request_sends() -> None:
    kind = request_rules.kind
    assert kind("PUT", "/a") == kind("POST", "/upload/storage/v1/b/x/o") == "upload"
    assert kind("DELETE", "/a") == "deletion"
    assert kind("POST", "/services/T/B/X") == "request"


@pytest.mark.parametrize(
    ("name", "sends"),
    [
        ("Publish", True), ("CreateTimeSeries", True), ("MutateRow", True), ("Commit", True),
        ("AppendRows", True), ("DeleteTopic", True), ("CreateTopic", True),
        ("ReadRows", False), ("CreateReadSession", False), ("BatchCreateSessions", False),
        ("BeginTransaction", False), ("StreamingPull", False), ("RunAggregationQuery", False),
        ("ListTimeSeries", False), ("BatchGetDocuments", False), ("GetObject", False),
    ],
)  # fmt: skip
def test_remote_calls_by_their_names(name: str, sends: bool) -> None:
    assert request_rules.names_sending(name) is sends
