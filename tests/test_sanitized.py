"""Others' text has no terminal control and no secrets; all other text stays unchanged."""

import json
import time

import pytest

from tpudiag.sanitized import harmless, one_line, redacted

LETTERS = "abcdefghij0123456789klmnopqrstuvwxyzABCD"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"clone https://user:{LETTERS}@github.com/a/b.git", "clone https://***@github.com/a/b.git"),
        (f"https://{LETTERS}@host/x", "https://***@host/x"),
        (f"GET https://h/x?a=1&access_token={LETTERS}&b=2", "GET https://h/x?a=1&access_token=***&b=2"),
        (f"https://s/o?X-Goog-Signature={LETTERS}", "https://s/o?X-Goog-Signature=***"),
        (f"https://s/o?key={LETTERS}#top", "https://s/o?key=***#top"),
        (f"Authorization: Bearer {LETTERS}", "Authorization: Bearer ***"),
        (f"{{'authorization': 'Basic {LETTERS}'}}", "{'authorization': 'Basic ***'}"),
        (f"used bearer {LETTERS} in vain", "used bearer *** in vain"),
        (f"login(token='hf_{LETTERS[:34]}')", "login(token='hf_***')"),
        (f"ghp_{LETTERS[:36]} and github_pat_{LETTERS}", "ghp_*** and github_pat_***"),
        (f"AIza{LETTERS[:35]}", "AIza***"),
        (f"ya29.{LETTERS}", "ya29.***"),
        ("AKIAIOSFODNN7EXAMPLE is its id", "AKIA*** is its id"),
        (f"aws_secret_access_key = {LETTERS}", "aws_secret_access_key = ***"),
        (f"WANDB_API_KEY={LETTERS}", "WANDB_API_KEY=***"),
        (f'{{"private_key": "{LETTERS}"}}', '{"private_key": "***"}'),
        (f"sk-{LETTERS}", "sk-***"),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----",
        ),
    ],
)  # fmt: skip
def test_secrets_are_hidden(text: str, left: str) -> None:
    assert redacted(text) == left
    assert redacted(left) == left


@pytest.mark.parametrize(
    "text",
    [
        "gs://bucket/data@2024/train-*.tfrecord",
        "https://www.tensorflow.org/guide?hl=en#tokens",
        "api_key = os.environ['WANDB_API_KEY']",
        "secret_key = jax.random.PRNGKey(20231123)",
        "auth_token: get_token_2()",
        "access_key: the_longest_name_of_all",
        "Basic operations of the bearer",
        "sk-learn-is-a-library-of-python",
        '"session_token": 123456789012345',
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
        "loss = tf.reduce_mean(losses)\n\tstep 12",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert harmless(text) == text


def test_json_stays_json() -> None:
    data = {"api_key": LETTERS, "b": f"password='{LETTERS}'", "c": "-----BEGIN PRIVATE KEY-----"}
    data |= {"url": f"https://u:{LETTERS}@h?token={LETTERS}", "d": "-----END", "e": "a\tb"}
    text = redacted(json.dumps(data, indent=2))
    assert LETTERS not in text
    assert json.loads(text).keys() == data.keys()


def test_what_acts_on_a_terminal_is_seen() -> None:
    assert one_line("a\x1b]0;title\x07\nb\u202ec\x9bd\ud800") == (
        "a\\x1b]0;title\\x07 b\\u202ec\\x9bd\\ud800"
    )


@pytest.mark.parametrize(
    "piece", ["://", "&token=", "authorization: ", "hf_", "api_key=", "-----BEGIN PRIVATE KEY-----"]
)
def test_long_texts_take_linear_time(piece: str) -> None:
    def took_s(count: int) -> float:
        text = (piece + "a1" * 20) * count + "a1b2" * 25 * count
        began = time.process_time()
        redacted(text)
        return time.process_time() - began

    took_s(100)
    assert took_s(16_000) < 60 * max(took_s(1_000), 0.002)
