"""The hub: what changed reaches everybody who watches it, once, and nothing is missed over a lost connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from strobe.errors import StoreBusy
from strobe.journal import event as ev
from strobe.server.live import Hub, Interest, StoreSource
from strobe.server.live import hub as hub_module
from strobe.server.live import source as source_module
from strobe.server.live import subscription as subscription_module
from strobe.server.live.subscription import Subscription
from strobe.store.store import Store
from tests.server.live.conftest import Logger

Told = tuple[str, dict[str, Any], str]


class Watcher:
    """A client: what a subscription brings, as (event, fields, id)."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.got: list[Told] = []
        self.last_id = ""

    async def until(self, is_enough: Callable[[list[Told]], bool], timeout_s: float = 10.0) -> list[Told]:
        deadline = time.monotonic() + timeout_s
        while not is_enough(self.got):
            assert time.monotonic() < deadline, self.got
            text = await self.subscription.take(0.05)
            assert text is not None, f"it ended: {self.subscription.ending}"
            self._read(text)
        return self.got

    async def quiet(self, for_s: float = 0.3) -> list[Told]:
        deadline = time.monotonic() + for_s
        while time.monotonic() < deadline:
            self._read(await self.subscription.take(0.05) or b"")
        return self.got

    def _read(self, text: bytes) -> None:
        for block in text.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
            if "event" in fields:
                self.last_id = fields.get("id", self.last_id)
                self.got.append((fields["event"], msgspec.json.decode(fields["data"]), fields.get("id", "")))

    def points(self, key: str) -> list[tuple[int, Any]]:
        told = [fields for event, fields, _ in self.got if event == "series" and fields["key"] == key]
        return [pair for fields in told for pair in zip(fields["steps"], fields["values"], strict=True)]

    @property
    def states(self) -> list[str]:
        return [fields["state"] for event, fields, _ in self.got if event == "run"]


def run_with_hub(store: Store, test: Callable[[Hub], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def session() -> None:
        hub = Hub(StoreSource(store.database), look_every_s=0.02, **options)
        try:
            await test(hub)
        finally:
            await hub.close()

    asyncio.run(session())


async def watch(hub: Hub, interest: Interest, last_id: str = "") -> Watcher:
    subscription = await hub.subscribe(interest, last_id)
    assert subscription is not None
    return Watcher(subscription)


def has(event: str, count: int = 1) -> Callable[[list[Told]], bool]:
    return lambda got: sum(found[0] == event for found in got) >= count


async def in_thread(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    return await asyncio.to_thread(call, *arguments, **keywords)


def test_points_and_states_reach_who_watches_the_run_or_its_project(store: Store) -> None:
    logger, other = Logger(store), Logger(store, "other")
    logger.log(0, loss=9.0, acc=0.0)

    async def test(hub: Hub) -> None:
        by_run = await watch(hub, Interest(frozenset([logger.id]), keys=frozenset(["loss"])))
        by_project = await watch(hub, Interest(projects=frozenset([logger.project_id]), keys=frozenset(["acc"])))
        await in_thread(logger.log, 1, loss=1.5, acc=0.5)
        await in_thread(other.log, 0, loss=7.0, acc=0.7)
        await in_thread(logger.log, 2, loss=float("nan"), acc=float("inf"))
        await in_thread(logger.end, "failed")
        await by_run.until(lambda _: "failed" in by_run.states)
        await by_project.until(lambda _: "failed" in by_project.states and len(by_project.points("acc")) == 3)
        assert by_run.points("loss") == [(1, 1.5), (2, "NaN")]
        assert by_run.points("acc") == []
        assert sorted(map(str, by_project.points("acc"))) == ["(0, 0.7)", "(1, 0.5)", "(2, 'Infinity')"]
        assert {fields["run"] for event, fields, _ in by_run.got if event == "run"} == {"team/p/r"}

    run_with_hub(store, test)


def test_every_point_is_told_once_however_looks_and_batches_fall(store: Store) -> None:
    logger = Logger(store)

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id]), keys=frozenset(["x"])))

        def feed() -> None:
            for step in range(60):
                logger.log(step, x=float(step))

        feeding = asyncio.create_task(in_thread(feed))
        await watcher.until(lambda _: len(watcher.points("x")) >= 60, 30)
        await feeding
        await watcher.quiet()
        assert watcher.points("x") == [(step, float(step)) for step in range(60)]

    run_with_hub(store, test)


def test_two_processes_over_one_store_see_the_same(store: Store) -> None:
    logger = Logger(store)

    async def test(hub: Hub) -> None:
        second = Hub(StoreSource(store.database), look_every_s=0.02)
        interest = Interest(frozenset([logger.id]), keys=frozenset(["x"]))
        watchers = [await watch(one, interest) for one in (hub, second)]
        for step in range(3):
            await in_thread(logger.log, step, x=step)
        for watcher in watchers:
            await watcher.until(lambda _, watcher=watcher: len(watcher.points("x")) == 3)  # type: ignore[misc]  # a default is no type
            assert watcher.points("x") == [(0, 0.0), (1, 1.0), (2, 2.0)]
        await second.close()

    run_with_hub(store, test)


def test_a_summary_is_told_by_what_changed_in_it(store: Store) -> None:
    logger = Logger(store)
    logger.log(0, a=1.0, b=1.0)

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id])))
        await in_thread(logger.log, 1, b=2.0)
        await in_thread(store.settler.settle)
        await watcher.until(lambda got: any("summary" in fields for _, fields, _ in got))
        watcher.got.clear()
        await in_thread(logger.log, 2, b=3.0)
        await watcher.quiet(0.1)
        await in_thread(store.settler.settle)
        got = await watcher.until(lambda got: any("summary" in fields for _, fields, _ in got))
        assert [fields["summary"] for _, fields, _ in got if "summary" in fields] == [{"b": 3.0}]

    run_with_hub(store, test)


def test_a_later_attempt_says_from_where_it_replaces(store: Store) -> None:
    logger = Logger(store)
    logger.log_many([(step, {"x": 1.0}) for step in range(10)])

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id]), keys=frozenset(["x"])))
        again = await in_thread(Logger, store, attempt=2)
        await in_thread(again.log, 5, x=2.0)
        await watcher.until(has("series"))
        await in_thread(again.log, 6, x=2.0)
        await watcher.until(has("series", 2))
        told = [fields for event, fields, _ in watcher.got if event == "series"]
        assert [fields.get("replaces_from") for fields in told] == [5, None]
        assert watcher.points("x") == [(5, 2.0), (6, 2.0)]

    run_with_hub(store, test)


def test_too_many_points_are_only_mentioned(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "MAX_POINTS", 5)
    logger = Logger(store)

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id]), keys=frozenset(["x"])))
        await in_thread(logger.log_many, [(step, {"x": 1.0}) for step in range(6)])
        await watcher.until(has("series"))
        await in_thread(logger.log, 6, x=7.0)
        await watcher.until(has("series", 2))
        told = [fields for event, fields, _ in watcher.got if event == "series"]
        assert told[0]["is_cut"] is True
        assert "steps" not in told[0]
        assert (told[1]["steps"], told[1]["values"]) == ([6], [7.0])

    run_with_hub(store, test)


def test_who_comes_back_gets_what_was_missed(store: Store) -> None:
    logger = Logger(store)
    interest = Interest(frozenset([logger.id]), keys=frozenset(["x"]))

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, interest)
        await in_thread(logger.log, 0, x=0.0)
        await watcher.until(has("series"))
        hub.unsubscribe(watcher.subscription)
        await in_thread(logger.log, 1, x=1.0)
        await asyncio.sleep(0.2)
        back = await watch(hub, interest, watcher.last_id)
        await in_thread(logger.log, 2, x=2.0)
        await back.until(lambda _: len(back.points("x")) == 2)
        assert back.points("x") == [(1, 1.0), (2, 2.0)]
        assert not any(event == "reset" for event, _, _ in back.got)

    run_with_hub(store, test)


@pytest.mark.parametrize("how", ["late", "elsewhere", "other-interest"])
def test_who_was_away_for_too_long_is_told_what_changed(store: Store, how: str) -> None:
    logger, _ = Logger(store), Logger(store, "untouched")
    interest = Interest(projects=frozenset([logger.project_id]), keys=frozenset(["x"]))

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, interest)
        await in_thread(logger.log, 0, x=0.0)
        await watcher.until(has("series"))
        hub.unsubscribe(watcher.subscription)
        target, wanted = hub, interest
        if how == "late":
            await asyncio.sleep(0.3)
        elif how == "elsewhere":
            target = Hub(StoreSource(store.database), look_every_s=0.02)
        else:
            wanted = Interest(projects=interest.projects, keys=frozenset(["x", "y"]))
        await in_thread(logger.log, 1, x=1.0)
        back = await watch(target, wanted, watcher.last_id)
        got = await back.until(has("reset"))
        (told,) = [fields for event, fields, _ in got if event == "reset"]
        assert "team/p/r" in told["runs"]
        assert got[0][0] == "hello"
        if target is not hub:
            await target.close()

    run_with_hub(store, test, linger_s=0.1 if how == "late" else 30.0)


def test_who_could_not_be_told_what_was_missed_is_not_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    interest = Interest(frozenset([Logger(store).id]))

    def away(*arguments: object) -> list[str]:
        raise StoreBusy("the database is away for a moment")

    monkeypatch.setattr(StoreSource, "changed_among", away)

    async def test(hub: Hub) -> None:
        with pytest.raises(StoreBusy):
            await hub.subscribe(interest, "abc-1-1")
        assert hub.num_subscribers == 0

    run_with_hub(store, test)


@pytest.mark.parametrize(
    "last_id", ["nonsense", "a-b-c", "-1-1", "x" * 200, "abc-1-1", f"abc-1-{9**40}", f"abc-1-{2**63 - 1}"]
)
def test_an_id_that_is_none_of_ours_does_no_harm(store: Store, last_id: str) -> None:
    logger = Logger(store)

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id])), last_id)
        await watcher.until(has("hello"))

    run_with_hub(store, test)


def test_who_does_not_keep_up_is_let_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_module, "_QUEUE_EVENTS", 3)
    logger = Logger(store)

    async def test(hub: Hub) -> None:
        slow = await watch(hub, Interest(frozenset([logger.id])))
        quick = await watch(hub, Interest(frozenset([logger.id])))
        for step in range(6):
            await in_thread(logger.log, step, x=step)
            await quick.until(has("run", step + 1))
        assert slow.subscription.ending == "slow"
        assert await slow.subscription.take(0.1) is None
        assert quick.subscription.ending is None

    run_with_hub(store, test)


def test_who_was_let_go_comes_back_however_much_was_missed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_module, "_QUEUE_EVENTS", 3)
    logger = Logger(store)
    interest = Interest(frozenset([logger.id]))

    async def test(hub: Hub) -> None:
        slow, quick = await watch(hub, interest), await watch(hub, interest)
        await slow.until(has("hello"))
        for step in range(6):
            await in_thread(logger.log, step, x=step)
            await quick.until(has("run", step + 1))
        assert slow.subscription.ending == "slow"
        # What is kept would be too much for it again: it would be let go for ever.
        back = await watch(hub, interest, slow.last_id)
        told = await back.until(has("reset"))
        assert told[-1][1] == {"runs": [str(logger.path)]}
        assert back.subscription.ending is None

    run_with_hub(store, test)


def test_what_changed_long_ago_is_no_news(store: Store) -> None:
    logger = Logger(store, clock=lambda: time.time_ns() - 3600 * 10**9)
    logger.log(0, x=1.0)

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id]), keys=frozenset("x")))
        assert [event for event, _, _ in await watcher.quiet()] == ["hello"]

    run_with_hub(store, test)


def test_what_changed_before_somebody_came_is_told_however_much_has_happened_since(store: Store) -> None:
    quiet = Logger(store, "quiet", clock=lambda: time.time_ns() - 30 * 10**9)
    Logger(store, "busy").log(0, x=1.0)  # the last look looks back from here

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(projects=frozenset([quiet.project_id])))
        await watcher.until(has("run", 2))
        assert {fields["run"] for event, fields, _ in watcher.got if event == "run"} == {"team/p/quiet", "team/p/busy"}

    run_with_hub(store, test)


def test_all_streams_end_when_the_server_stops(store: Store) -> None:
    logger = Logger(store)
    is_stopping = False

    async def test(hub: Hub) -> None:
        nonlocal is_stopping
        watcher = await watch(hub, Interest(frozenset([logger.id])))
        await watcher.until(has("hello"))
        is_stopping = True
        while (text := await watcher.subscription.take(5)) is not None:
            assert text
        assert watcher.subscription.ending == "stopping"

    run_with_hub(store, test, is_stopping=lambda: is_stopping)


def test_nobody_watching_means_nobody_looking(store: Store) -> None:
    logger = Logger(store)

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id])))
        hub.unsubscribe(watcher.subscription)
        assert hub._task is not None
        await asyncio.wait_for(asyncio.wait([hub._task]), 5)
        again = await watch(hub, Interest(frozenset([logger.id])))
        await in_thread(logger.log, 0, x=1)
        await again.until(has("run"))

    run_with_hub(store, test, linger_s=0.05)


def test_a_nudge_is_heard_at_once(store: Store) -> None:
    logger = Logger(store)

    async def session() -> None:
        hub = Hub(StoreSource(store.database), look_every_s=30)
        watcher = await watch(hub, Interest(frozenset([logger.id])))
        await in_thread(logger.log, 0, x=1)
        await in_thread(hub.nudge)
        await watcher.until(has("run"), 5)
        await hub.close()

    asyncio.run(session())


def test_a_change_that_was_seen_just_before_somebody_asked_is_told(store: Store) -> None:
    """Positions are read, then a batch comes and is looked at, and only then does the subscriber count."""
    logger = Logger(store)

    class Slow(StoreSource):
        def positions(self, *arguments: Any) -> Any:
            found = super().positions(*arguments)
            logger.log(0, x=1.0)
            logger.end()
            time.sleep(0.3)  # the hub looks meanwhile
            return found

    async def session() -> None:
        hub = Hub(Slow(store.database), look_every_s=0.02)
        watcher = await watch(hub, Interest(frozenset([logger.id]), keys=frozenset(["x"])))
        await watcher.until(lambda _: watcher.points("x") == [(0, 1.0)])
        await hub.close()

    asyncio.run(session())


def test_a_name_and_tags_are_told_when_they_change(store: Store) -> None:
    logger = Logger(store)
    logger.log(0, x=1.0)

    async def edit(**fields: Any) -> None:
        now_ns = time.time_ns()
        event = ev.Attributes(time_ns=now_ns, changes=fields)
        await in_thread(store.edits.write, logger.path, [event], now_ns=now_ns)
        await in_thread(store.settler.settle)

    def callings(watcher: Watcher) -> list[dict[str, Any]]:
        names = ("name", "notes", "tags", "group", "job_type")
        told = [{name: fields[name] for name in names if name in fields} for _, fields, _ in watcher.got]
        return [found for found in told if found]

    async def test(hub: Hub) -> None:
        watcher = await watch(hub, Interest(frozenset([logger.id])))
        await edit(name="first")
        await watcher.until(lambda _: any(found.get("name") == "first" for found in callings(watcher)))
        watcher.got.clear()
        await edit(name="second")
        await edit(tags=["good"])
        await watcher.until(lambda _: any("tags" in found for found in callings(watcher)))
        together = {key: item for found in callings(watcher) for key, item in found.items()}
        assert together == {"name": "second", "tags": ["good"]}, "and nothing that did not change"

    run_with_hub(store, test)


@pytest.mark.parametrize("is_left", [True, False], ids=["page loaded again", "second page"])
def test_who_comes_to_what_is_watched_already_is_told_what_the_others_were_told(store: Store, is_left: bool) -> None:
    """A page reads a run, the run changes, the hub tells it to the page that was there before, and only then is the
    new page's stream open: it must not show the old state for ever."""
    logger = Logger(store)
    interest = Interest(frozenset([logger.id]), keys=frozenset(["x"]))

    async def test(hub: Hub) -> None:
        before = await watch(hub, interest)
        await in_thread(logger.log, 0, x=1.0)
        await before.until(lambda _: before.points("x") == [(0, 1.0)])
        if is_left:
            hub.unsubscribe(before.subscription)
        await in_thread(logger.log, 1, x=2.0)
        await in_thread(logger.end)
        await in_thread(store.settler.settle)
        if is_left:
            await asyncio.sleep(0.3)  # nobody is told, and yet it is looked at: the page might only be cut off
        else:
            await before.until(lambda _: before.states[-1:] == ["finished"])
            await before.quiet()
        after = await watch(hub, interest)
        got = await after.until(lambda _: after.states[-1:] == ["finished"])
        assert [fields["summary"] for event, fields, _ in got if event == "run"][-1]["x"] == 2.0

    run_with_hub(store, test)


def test_all_runs_that_change_in_one_moment_are_seen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "_LIMIT", 2)
    for number in range(7):
        Logger(store, f"r{number}")
    buried = store.runs.bury(silent_for_ns=-(10**9), now_ns=time.time_ns())
    seen = StoreSource(store.database).changed_since(buried[0].changed_ns)
    assert sorted(run.name for run in seen) == [f"r{number}" for number in range(7)]


def test_subscribers_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_SUBSCRIBERS", 1)

    async def test(hub: Hub) -> None:
        await watch(hub, Interest())
        assert await hub.subscribe(Interest()) is None

    run_with_hub(store, test)


def test_one_client_leaves_room_for_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_OF_ONE", 2)

    async def test(hub: Hub) -> None:
        own = [await hub.subscribe(Interest(), who="a") for _ in range(3)]
        assert [found is not None for found in own] == [True, True, False]
        assert await hub.subscribe(Interest(), who="b") is not None
        assert own[0] is not None
        hub.unsubscribe(own[0])
        assert await hub.subscribe(Interest(), who="a") is not None

    run_with_hub(store, test)


def test_who_comes_back_makes_the_server_look_at_its_own_runs_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger, _ = Logger(store), Logger(store, "other")

    async def test(hub: Hub) -> None:
        await watch(hub, Interest())
        asked: list[int] = []
        look = hub._source.changed_since

        def changed_since(since_ns: int) -> Any:
            asked.append(since_ns)
            return look(since_ns)

        monkeypatch.setattr(hub._source, "changed_since", changed_since)
        watcher = await watch(hub, Interest(frozenset([logger.id])), "abc-1-0")
        got = await watcher.until(has("reset"))
        assert [fields["runs"] for event, fields, _ in got if event == "reset"] == [["team/p/r"]]
        assert min(asked, default=1) > 0, "all runs of the store were read for one client"

    run_with_hub(store, test)
