"""What is said, byte for byte, on every kind of stream; and that no stream can hurt the caller."""

from __future__ import annotations

import io
from typing import Any

import pytest

from strobe import terminal
from strobe.terminal import Terminal


class Screen(io.StringIO):
    """A text stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Ascii(io.TextIOWrapper):
    def __init__(self) -> None:
        self.raw_bytes = io.BytesIO()
        super().__init__(self.raw_bytes, encoding="ascii")


def make(stream: Any, environ: dict[str, str] | None = None, **settings: bool) -> Terminal:
    return Terminal(stream, environ=environ or {}, **settings)


def test_plain_lines_when_not_a_terminal() -> None:
    stream = io.StringIO()
    talk = make(stream)
    talk.log("one\ntwo")
    talk.warn("careful")
    talk.error("broken", newline=False)
    assert stream.getvalue() == "strobe: one\nstrobe: two\nstrobe: WARNING careful\nstrobe: ERROR broken"


def test_colours_on_a_terminal() -> None:
    stream = Screen()
    make(stream).warn("careful")
    assert stream.getvalue() == "\x1b[33mstrobe:\x1b[0m WARNING careful\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"quiet": True}, "strobe: WARNING w\nstrobe: ERROR e\nstrobe: WARNING o\n"),
        ({"silent": True}, ""),
        ({"quiet": True, "silent": True}, ""),
        ({"warnings": False}, "strobe: l\nb\nstrobe: ERROR e\n"),
        ({"errors": False}, "strobe: l\nb\nstrobe: WARNING w\nstrobe: WARNING o\n"),
        ({"quiet": True, "warnings": False, "errors": False}, ""),
    ],
)
def test_quiet_and_silent_byte_for_byte(settings: dict[str, bool], expected: str) -> None:
    stream = io.StringIO()
    talk = make(stream, {}, **settings)
    talk.log("l")
    talk.block("b")
    talk.warn("w")
    talk.error("e")
    talk.warn_once("cause", "o")
    assert stream.getvalue() == expected


@pytest.mark.parametrize(
    ("environ", "on_tty", "on_file"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"CI": "true"}, True, False),
    ],
)
def test_colour_rules(environ: dict[str, str], on_tty: bool, on_file: bool) -> None:
    assert make(Screen(), environ).has_colour is on_tty
    assert make(io.StringIO(), environ).has_colour is on_file


def test_what_the_user_says_about_colour_wins() -> None:
    assert make(io.StringIO(), {"NO_COLOR": "1", "TERM": "dumb"}, colour=True).has_colour
    assert not make(Screen(), {"FORCE_COLOR": "1"}, colour=False).has_colour


def test_ci_and_dumb_terminals_are_not_drawn_over() -> None:
    assert make(Screen()).is_interactive
    assert not make(Screen(), {"CI": "true"}).is_interactive
    assert make(Screen(), {"CI": "false"}).is_interactive
    assert not make(Screen(), {"TERM": "dumb"}).is_interactive
    assert not make(io.StringIO()).is_interactive


def test_width_from_columns_else_80() -> None:
    assert make(io.StringIO(), {"COLUMNS": "132"}).width == 132
    for bad in ("", "0", "-3", "wide", "²"):
        assert make(io.StringIO(), {"COLUMNS": bad}).width == 80
    assert make(io.StringIO(), {"LINES": "50"}).height == 50


def test_unicode_needs_a_terminal_and_an_encoding() -> None:
    assert make(Screen()).has_unicode
    assert not make(io.StringIO()).has_unicode
    assert not make(Screen(), {"TERM": "dumb"}).has_unicode
    latin = Screen()
    latin.encoding = "latin-1"
    assert not make(latin).has_unicode
    latin.encoding = "no-such-encoding"
    assert not make(latin).has_unicode


def test_repeat_false_and_warn_once_say_it_once() -> None:
    stream = io.StringIO()
    talk = make(stream)
    for number in range(3):
        talk.warn("same", repeat=False)
        talk.warn_once("cause", f"seen {number}")
    assert stream.getvalue() == "strobe: WARNING same\nstrobe: WARNING seen 0\n"


def test_memory_of_said_texts_is_bounded() -> None:
    talk = make(io.StringIO(), silent=True)
    for number in range(10_000):
        talk.warn(str(number), repeat=False)
    assert len(talk._said) <= 4096


class Hostile:
    """A stream whose every use raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getattr__(self, name: str) -> Any:
        raise self.error


@pytest.mark.parametrize(
    "error", [BrokenPipeError(), ValueError("closed"), RuntimeError("reentrant"), AttributeError("x")]
)
def test_a_hostile_stream_never_raises_into_the_caller(error: Exception) -> None:
    class Pipe(io.StringIO):
        def write(self, text: str) -> int:
            raise error

        def isatty(self) -> bool:
            raise ValueError

        def fileno(self) -> int:
            raise OSError

    talk = make(Pipe())
    talk.log("x")
    talk.error("x")
    assert (talk.is_tty, talk.width) == (False, 80)
    make(Hostile(error)).write("x")


def test_no_stderr_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    talk = Terminal(environ={})
    talk.log("x")
    assert (talk.is_tty, talk.has_colour, talk.has_unicode, talk.width) == (False, False, False, 80)


def test_closed_stream() -> None:
    stream = io.StringIO()
    stream.close()
    make(stream).log("x")


def test_ctrl_c_while_printing_is_the_users() -> None:
    class Interrupted(io.StringIO):
        def write(self, text: str) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(Interrupted()).log("x")


def test_narrow_encodings_get_replacements() -> None:
    stream = Ascii()
    make(stream).log("loss ↓")
    assert stream.raw_bytes.getvalue() == b"strobe: loss ?\n"


def test_module_functions_use_the_process_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(terminal, "_shared", Terminal())
    terminal.termlog("hello")
    terminal.termwarn("careful", repeat=False)
    terminal.termwarn("careful", repeat=False)
    terminal.termerror("broken")
    terminal.warn_once("k", "once")
    assert capsys.readouterr().err == (
        "strobe: hello\nstrobe: WARNING careful\nstrobe: ERROR broken\nstrobe: WARNING once\n"
    )
    terminal.follow(Terminal(silent=True, colour=False))
    assert (terminal.shared().silent, terminal.shared().colour) == (True, False)
    terminal.termerror("unheard")
    assert capsys.readouterr().err == ""
