"""`strobe completion bash|zsh|fish`: a script that completes commands and options, written from the parsers."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from strobe.cli.parser import Subparsers, add_command

SHELLS = ("bash", "zsh", "fish")


def register(subparsers: Subparsers) -> None:
    completion = add_command(
        subparsers,
        "completion",
        _completion,
        summary="print a shell completion script",
        examples=[
            'eval "$(strobe completion bash)"',
            "strobe completion fish > ~/.config/fish/completions/strobe.fish",
        ],
        json=False,
    )
    completion.add_argument("shell", choices=SHELLS, help="for which shell")


def _completion(args: Namespace) -> int:
    print(script(args.shell), end="")
    return 0


def script(shell: str) -> str:
    """Return the completion script for a shell."""
    lines = list(_fish() if shell == "fish" else _bash())
    if shell == "zsh":
        lines = ["autoload -Uz bashcompinit && bashcompinit", *lines]
    return "\n".join(lines) + "\n"


def _words() -> Iterator[tuple[str, list[str]]]:
    """Yield (the words typed so far, what may follow) for every command."""
    from strobe.cli.describe import commands

    for command in commands():
        follow = [*command.subcommands]
        for option in command.options:
            follow += option.flags if option.flags else option.choices
        yield " ".join(command.words), [*follow, "--help"]


def _bash() -> Iterator[str]:
    yield "_strobe() {"
    yield '  local path="" word words'
    yield '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield '    case "$word" in -*) ;; *) path="$path $word" ;; esac'
    yield "  done"
    # An argument is no command: go back to the longest path that is one.
    yield "  while :; do"
    yield '    case "${path# }" in'
    for path, follow in _words():
        yield f"      '{path}') words='{' '.join(follow)}'; break ;;"
    yield '      *) path="${path% *}" ;;'
    yield "    esac"
    yield "  done"
    yield '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))'
    yield "}"
    yield "complete -o default -F _strobe strobe"


def _fish() -> Iterator[str]:
    from strobe.cli.describe import Command, commands

    found: list[Command] = commands()
    for command in found:
        condition = (
            "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words) or "__fish_use_subcommand"
        )
        if command.subcommands and command.words:
            condition += f"; and not __fish_seen_subcommand_from {' '.join(command.subcommands)}"
        for child in found:
            if child.words[:-1] == command.words and child.words:
                yield f"complete -c strobe -f -n '{condition}' -a {child.words[-1]} -d {_quoted(child.summary)}"
        for option in command.options:
            for flag in option.flags:
                kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                value = " -r" if option.takes_value else ""
                choices = f" -f -a {_quoted(' '.join(option.choices))}" if option.choices else ""
                yield f"complete -c strobe -n '{condition}' {kind}{value}{choices} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
