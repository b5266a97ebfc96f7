"""What is written about the commands is what they do: reference, examples, completions."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from strobe.bench.registry import find
from strobe.cli import OK, main
from strobe.cli.completion import SHELLS, script
from strobe.cli.describe import Command, commands
from strobe.cli.parser import available_groups, build
from strobe.cli.reference import markdown

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = commands()
#: commands that change nothing and need nothing but a home
READING = ("bench list", "completion", "config get", "du", "home", "run ls", "run trash ls")


def test_the_reference_page_is_up_to_date() -> None:
    written = (DOCS / "cli-reference.md").read_text(encoding="utf-8")
    assert written == markdown(), "run: python -m strobe.cli.reference > docs/cli-reference.md"


def test_every_group_is_in_the_guide() -> None:
    guide = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name in available_groups():
        assert f"strobe {name}" in guide


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])
def test_every_command_has_two_examples_that_parse(command: Command) -> None:
    assert len(command.examples) >= 2
    assert command.summary.endswith(".")
    for example in command.examples:
        for words in _strobe_calls(example):
            build(None).parse_args(words)


@pytest.mark.parametrize(
    "example",
    [
        example
        for command in COMMANDS
        for example in command.examples
        if command.name.removeprefix("strobe ") in READING
        and re.fullmatch(r"strobe [^|<>$]*", example)
        and "--host" not in example
    ],
)
def test_examples_that_only_read_do_what_they_say(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    assert [main(words) for words in _strobe_calls(example)] == [OK], capsys.readouterr().err


def test_benchmarks_that_examples_of_run_name_are_there() -> None:
    examples = next(command.examples for command in COMMANDS if command.name == "strobe bench run")
    chosen = [build(None).parse_args(words).benchmark for example in examples for words in _strobe_calls(example)]
    names = [name for benchmarks in chosen for name in benchmarks if not name.endswith(".py")]
    assert names
    assert all(find([name]) for name in names)


def test_the_glob_in_the_help_finds_benchmarks() -> None:
    shown = re.search(r"a glob \('([^']+)'\)", markdown())
    assert shown is not None
    assert find([shown[1]])


def _strobe_calls(example: str) -> list[list[str]]:
    bare = example.replace('eval "$(', "").replace('cd "$(', "").replace(')"', "")
    words = shlex.split(re.split(r" [|<>] ", bare)[0])
    return [words[1:]] if words and words[0] == "strobe" else []


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_name_every_command(shell: str) -> None:
    text = script(shell)
    for command in COMMANDS:
        assert all(word in text for word in command.words)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes() -> None:
    probe = script("bash") + (
        'try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _strobe; echo "${COMPREPLY[*]}"; }\n'
        'try strobe ru; try strobe run tra; try strobe run show some-id --js; try strobe completion ""\n'
    )
    done = subprocess.run(["bash", "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:3] == ["run", "trash", "--json"]
    assert "zsh" in done.stdout.splitlines()[3]
