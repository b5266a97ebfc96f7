"""Credentials go, everything else stays: both lists are tested."""

from __future__ import annotations

import string
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.environment.redact import (
    _NAME_HINTS,
    _OTHER_HINTS,
    _PERHAPS,
    REDACTED,
    SECRET_WORDS,
    judge_name,
    looks_random,
    redact,
    redact_text,
)

SECRET = "x7Kp2mQ9vR4tYw8z"

_SECRETS = """
password PASSWORD db_password passwd DB_PWD passphrase secret client_secret SECRET_KEY credentials credential
api_key apiKey API-KEY apikey OPENAI_API_KEY openai_key anthropic.api_key private_key ssh_key encryption_key license_key
AWS_SECRET_ACCESS_KEY aws_access_key_2 hf_token HFToken HUGGING_FACE_HUB_TOKEN auth_token accessToken
refresh_token GITHUB_TOKEN gh_token WANDB_API_KEY slack_bot_token push_to_hub_token authorization Authorization
password_hash secret_value api_key_2 api_tokens wandb-key user_token id_token session_token
"""
SECRET_NAMES = _SECRETS.split()

_HARMLESS = """
tokenizer tokenizer_name max_tokens n_tokens num_tokens total_tokens tokens tokens_per_second pad_token eos_token
bos_token mask_token unk_token image_token token_embedding token_dim token_ids pad_token_id key_dim num_keys keys
n_key_value_heads key_padding_mask monkey keyboard keypoints keyframe turkey hockey author authors authority
passes num_passes passthrough compass bypass secretary secret_dim password_length password_file passwordless
user_key item_key sort_key primary_key text_key label_key rng_key prng_key cache_key target_key query_key key_size
lr epochs batch_size model PWD OLDPWD accuracy signal design assigned basic_block oauth_url api_url access_pattern
credit hidden_size authenticated tokenization stop_token start_token special_tokens additional_special_tokens token_hf
"""
HARMLESS_NAMES = _HARMLESS.split()


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_credentials(name: str) -> None:
    assert judge_name(name) == "secret"
    assert redact({name: "hunter2"}) == {name: REDACTED}
    assert redact([f"--{name}", "hunter2"]) == [f"--{name}", REDACTED]
    assert redact([f"--{name}=hun,ter2"]) == [f"--{name}={REDACTED}"]
    assert "hunter2" not in redact(f"{name}=hunter2 python train.py")
    assert "hunter2" not in redact(f'{{"{name}": "hunter2"}}')
    assert redact({name: ""}) == {name: ""}
    assert redact({name: None, "x": True}) == {name: None, "x": True}


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_names_that_are_none(name: str) -> None:
    assert judge_name(name) != "secret"
    for value in (
        "gpt2",
        "<|endoftext|>",
        128,
        0.5,
        True,
        None,
        ["a", "b"],
        {"x": 1},
        "path/to/file_v2.json",
        "user_id",
    ):
        mapping = {name: value}
        assert redact(mapping) is mapping
    line = [f"--{name}", "value", f"--{name}=value"]
    assert redact(line) is line
    text = f"{name}=value {name}: 12 --{name} value"
    assert redact(text) is text


def test_names_that_may_be_count_when_the_value_looks_random() -> None:
    assert redact({"key": "loss", "token": "<pad>", "auth": "basic"}) == {
        "key": "loss",
        "token": "<pad>",
        "auth": "basic",
    }
    assert redact({"key": SECRET}) == {"key": REDACTED}
    assert redact({"token": SECRET, "pad_token": SECRET}) == {"token": REDACTED, "pad_token": SECRET}
    assert redact({"signature": "9f86d081884c7d659a2feaa0c55ad015"})["signature"] == REDACTED


def test_numbers_stay_except_as_passwords() -> None:
    assert redact({"password": 1234, "api_key": 7, "use_password": True}) == {
        "password": REDACTED,
        "api_key": 7,
        "use_password": True,
    }


def test_nested_values() -> None:
    config = {"db": {"host": "h", "password": "p"}, "list": [{"api_key": "k"}], "lr": 0.1, 3: "x"}
    assert redact(config) == {
        "db": {"host": "h", "password": REDACTED},
        "list": [{"api_key": REDACTED}],
        "lr": 0.1,
        3: "x",
    }
    assert redact({"credentials": {"user": "u", "parts": ["a", 1], "blob": b"x"}}) == {
        "credentials": {"user": REDACTED, "parts": [REDACTED, 1], "blob": REDACTED}
    }
    assert config["db"] == {"host": "h", "password": "p"}


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "11ABCDEFG0" * 3,
        "glpat-" + "aB3_" * 6,
        "hf_" + "AbCdEfGh" * 4,
        "sk-" + "aB3d" * 12,
        "sk-proj-" + "aB3_d" * 8,
        "sk-ant-api03-" + "aB3-d" * 8,
        "sk-" + "0123456789abcdef" * 2,
        "xoxb-123456789012-abcdefghijkl",
        "AIza" + "aB3-_" * 7,
        "ya29." + "aB3-_" * 6,
        "sk_live_" + "aB3d" * 6,
        "npm_" + "aB3d" * 9,
        "pypi-" + "aB3d" * 15,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123",
        "wandb_v1_" + "aB3d" * 8,
    ],
)
def test_known_shapes_anywhere(token: str) -> None:
    for text in (token, f"using {token}, ok", f"x={token}", f"(key {token})", f"https://{token}@github.com/a/b.git"):
        assert token not in redact(text)
    assert redact({"note": token}) == {"note": REDACTED}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("https://user:pa@ss@host/x?y=1", f"https://{REDACTED}@host/x?y=1"),
        ("postgresql://u:p@db:5432/name", f"postgresql://{REDACTED}@db:5432/name"),
        ("https://x7Kp2mQ9vR4tYw8z@github.com/a/b", f"https://{REDACTED}@github.com/a/b"),
        ("curl -H 'Authorization: Bearer abc.def.ghi'", f"curl -H 'Authorization: Bearer {REDACTED}'"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {REDACTED}"),
        ("Bearer abcdefghij0123456789", f"Bearer {REDACTED}"),
        ("wandb login 0123456789abcdef0123456789abcdef01234567", f"wandb login {REDACTED}"),
        ("train.py --api-key abc --lr 3", f"train.py --api-key {REDACTED} --lr 3"),
        ("train.py --api-key='a b' --lr 3", f"train.py --api-key='{REDACTED}' --lr 3"),
        ("HF_TOKEN=abc python x.py", f"HF_TOKEN={REDACTED} python x.py"),
        ("?user=me&access_token=abc&x=1", f"?user=me&access_token={REDACTED}&x=1"),
        ("password: hunter2", f"password: {REDACTED}"),
    ],
)
def test_inside_texts(text: str, cleaned: str) -> None:
    assert redact(text) == cleaned


def test_private_keys() -> None:
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----\nrest"
    assert redact(text) == f"-----BEGIN RSA PRIVATE KEY----- {REDACTED} -----END RSA PRIVATE KEY-----\nrest"
    assert "MIIabc" not in redact("-----BEGIN PRIVATE KEY-----\nMIIabc\ncut off")


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:org/repo.git",
        "ssh://git@github.com/org/repo.git",
        "https://me@github.com/org/repo.git",
        "mail me@example.com about tokens",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "sk-learn-style-regression-benchmark-v2",
        "task-aaaaaaaaaaaaaaaaaaaaaaaaaaaaa1",
        "disk-0123456789abcdef0123456789abcdef",
        "hf_transformers_model_name",
        "basic understanding, basic Internationalization, token classification-finetuning",
        "the key point: authors pass tokens to the tokenizer",
        "Epoch 3: tokens/s=12345.6 key_dim=64 author=me max_tokens: 100",
        "python train.py --tokenizer gpt2 --max-tokens 512 --sort-key length --monitor-key val/loss",
        "2026-11-15 12:00:00 INFO auth ok",
        "C:\\users\\keys\\token.txt /etc/secrets/readme",
    ],
)
def test_harmless_texts_stay_as_they_are(text: str) -> None:
    assert redact(text) is text


def test_code_loses_literals_only() -> None:
    diff = """\
+password = args.password
+    token = tokenizer.eos_token
+api_key = os.environ["API_KEY"]
+api_key = "hunter2"
+secret: 'hunter3'
+client = Client(password=get_password(), token=token)
+url = "https://u:hunter4@host"
"""
    cleaned = redact_text(diff, code=True)
    assert not any(word in cleaned for word in ("hunter2", "hunter3", "hunter4"))
    for kept in ("args.password", "tokenizer.eos_token", 'os.environ["API_KEY"]', "get_password(), token=token"):
        assert kept in cleaned


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (SECRET, True),
        ("9f86d081884c7d659a2feaa0c55ad015", True),
        ("short1", False),
        ("resnet50_pretrained_imagenet1k", False),
        ("train/loss/epoch_average_value", False),
        ("1234567890123456789", False),
        ("2026-11-15T12:00:00", False),
        ("has blanks 1 2 3 4 5 6", False),
        ("é" * 20, False),
        (17, False),
    ],
)
def test_what_looks_random(value: Any, expected: bool) -> None:
    assert looks_random(value) is expected


def test_argv_that_is_not_text() -> None:
    assert redact(["--api-key", 5, "x"]) == ["--api-key", 5, "x"]
    assert redact(("--api-key", "k", "--flag", "--token")) == ("--api-key", REDACTED, "--flag", "--token")
    assert redact(5) == 5
    assert redact(None) is None


KEYS = st.sampled_from(["lr", "password", "tokenizer", "key", "api_key", "nested"]) | st.text(max_size=8)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30) | st.just(SECRET)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


@given(TREES)
def test_redacting_twice_is_redacting_once(tree: Any) -> None:
    once = redact(tree)
    assert redact(once) == once


@given(TREES)
def test_shape_and_harmless_parts_survive(tree: Any) -> None:
    cleaned = redact(tree)
    assert type(cleaned) is type(tree)
    if isinstance(tree, dict):
        assert list(cleaned) == list(tree)
    if cleaned == tree:
        assert cleaned is tree


SECRETS = st.text(string.ascii_letters + string.digits + "+/=_.-!?%$", min_size=6, max_size=40).map(lambda s: "Zq9" + s)


@given(st.sampled_from(SECRET_NAMES), SECRETS)
def test_no_secret_of_a_secret_name_survives(name: str, secret: str) -> None:
    assert redact({name: secret}) == {name: REDACTED}
    for argv in ([f"--{name}", secret], [f"--{name}={secret}"], [f"{name}={secret}"]):
        assert not any("Zq9" in item for item in redact(argv))
    for text in (f"run --{name} {secret} x", f"{name}={secret} cmd", f'"{name}": "{secret}",', f"{name}: {secret}"):
        assert "Zq9" not in redact(text)


@given(
    st.text(string.ascii_letters + string.digits + ":_-.", min_size=1),
    SECRETS,
    st.sampled_from(["https", "s3", "redis"]),
)
def test_no_password_in_a_url_survives(user: str, secret: str, scheme: str) -> None:
    secret = "".join(character for character in secret if character not in "/?#")
    assert "Zq9" not in redact(f"origin {scheme}://{user}:{secret}@host.example/path (fetch)")


@given(st.text())
def test_any_text(text: str) -> None:
    cleaned = redact(text)
    assert redact(cleaned) == cleaned
    redact_text(text, code=True)


def test_every_name_that_is_judged_holds_a_hint() -> None:
    assert all(hint == hint.lower() for hint in (*_NAME_HINTS, *_OTHER_HINTS))
    for word in (*SECRET_WORDS, *_PERHAPS, "key", "token"):
        assert any(hint in word for hint in _NAME_HINTS)


def test_harmless_command_lines_load_no_patterns() -> None:
    code = """
import sys
from strobe.environment.redact import redact
redact({"command": "python train.py --tokenizer gpt2 --max-tokens 5 --author=me", "args": ["--tokenizer", "gpt2"]})
assert "strobe.environment.credential" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
