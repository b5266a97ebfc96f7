"""What events add up to does not depend on the order in which they come."""

from __future__ import annotations

import itertools

from strobe.journal import event as ev
from strobe.journal.segment import Header
from strobe.store.state import Facts


def header_of(writer: str, kind: str, *, host: str = "", rank: int | None = None) -> Header:
    return Header(entity="e", project="p", run="r", writer=writer, attempt=1, kind=kind, host=host, rank=rank)


def test_a_writer_that_was_judged_before_it_was_heard_of_is_who_it_says() -> None:
    main, rank = header_of("m", "main", host="a", rank=0), header_of("k", "rank", host="b", rank=3)
    agent = header_of("agent", "agent")
    told: list[tuple[Header, ev.Event]] = [
        (main, ev.Started(time_ns=1, primary=True)),
        (rank, ev.Started(time_ns=2, primary=False)),
        (agent, ev.Ended(time_ns=5, state="crashed", writer="k")),
        (agent, ev.Ended(time_ns=9, state="crashed", writer="m")),
    ]
    for order in itertools.permutations(told):
        facts = Facts()
        for header, event in order:
            facts.take(header, (1, 0, header.writer, 0), event)
        assert {name: writer.header for name, writer in facts.writers.items()} == {"m": main, "k": rank}
        assert facts.state == "crashed"
