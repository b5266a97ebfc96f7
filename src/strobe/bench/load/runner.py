"""Who is measured when: repetitions are interleaved (A B C A B C), each in a fresh process.

A slow minute of the machine then falls on every subject alike. A subject that fails once is not tried again in that
profile; its record says why. Formatting belongs to report and results.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from strobe.bench import machine
from strobe.bench.load import venvs
from strobe.bench.load.catalog import Metric, Profile
from strobe.bench.load.job import Job, Outcome, Server
from strobe.bench.load.results import model_of
from strobe.bench.load.variant import Subject
from strobe.bench.records import Environment, Record, format_number, format_variant, make_id
from strobe.errors import Error, UsageError

Say = Callable[[str], None]

#: of what is measured: records of two versions are not compared
_VERSION = 1
#: what the command takes where nothing is said
_TIMEOUT_S = 600.0
#: what every profile gives in online mode, besides its own
ONLINE_METRICS = (
    Metric("server_wait", "s", "less", "Until the server has everything, after the end"),
    Metric("server_rows", "rows", "more", "Rows that the server has"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure and how often."""

    profiles: Sequence[Profile]
    subjects: Sequence[Subject]
    mode: str = "offline"
    repeat: int = 5
    #: sizes that replace a profile's own, where it has an option of that name
    options: dict[str, float] = field(default_factory=dict)
    venvs: Path = field(default_factory=venvs.default_directory)
    #: where the workers' directories are made: the file system under test
    directory: Path | None = None
    timeout_s: float = _TIMEOUT_S
    #: online: the server to send to (default: one of its own, on this machine, for the length of the measurement)
    server: Server | None = None
    is_own_server: bool = False

    def metrics(self, profile: Profile) -> tuple[Metric, ...]:
        """Return what is measured of a profile."""
        return profile.metrics + (ONLINE_METRICS if self.mode == "online" else ())


def run(plan: Plan, say: Say = lambda text: None) -> list[Record]:
    """Measure everything in the plan; one record per profile, subject and metric."""
    _check(plan)
    if plan.mode != "online" or plan.server is not None:
        return _run(plan, say)
    from strobe._version import __version__
    from strobe.bench.server import local_server

    with TemporaryDirectory(prefix="load-server-") as place, local_server(Path(place)) as started:
        own = Server(started.url, started.key, __version__)
        return _run(replace(plan, server=own, is_own_server=True), say)


def _run(plan: Plan, say: Say) -> list[Record]:
    pythons = {s.tracker.name: venvs.ensure(s.tracker, plan.venvs, say) for s in plan.subjects}
    records: list[Record] = []
    began = machine.moment()
    for profile in plan.profiles:
        outcomes = _measure(plan, profile, pythons, say)
        # All profiles are one session.
        environment = msgspec.structs.replace(machine.describe(plan.directory or Path.cwd()), started_at=began)
        for subject, found in zip(plan.subjects, outcomes, strict=True):
            records += _records(plan, profile, subject, found, environment)
    return records


def _check(plan: Plan) -> None:
    if plan.repeat < 1:
        raise UsageError(f"repeat must be at least 1, got {plan.repeat}")
    for tracker in (subject.tracker for subject in plan.subjects):
        if plan.mode == "online" and not ("online" in tracker.modes and "arrival" in tracker.offers):
            raise UsageError(f"{tracker.name} cannot be measured online: no server here speaks its protocol yet")
        if plan.mode not in tracker.modes:
            modes = ", ".join(tracker.modes)
            raise UsageError(f"{tracker.name} can be measured in {modes} mode only, not {plan.mode}")
    known = {name for profile in plan.profiles for name in profile.options}
    if unknown := set(plan.options) - known:
        raise UsageError(f"no chosen profile has the option {', '.join(sorted(unknown))}; they have: {sorted(known)}")


def _measure(plan: Plan, profile: Profile, pythons: dict[str, Path], say: Say) -> list[list[Outcome]]:
    outcomes: list[list[Outcome]] = [[] for _ in plan.subjects]
    for repetition in range(plan.repeat):
        for subject, done in zip(plan.subjects, outcomes, strict=True):
            if done and done[-1].error:
                continue
            done.append(_measure_once(plan, profile, subject, pythons[subject.tracker.name]))
            found = _brief(plan.metrics(profile), done[-1])
            say(f"{profile.name} {repetition + 1}/{plan.repeat} {subject.label}: {found}")
    return outcomes


def _measure_once(plan: Plan, profile: Profile, subject: Subject, python: Path) -> Outcome:
    if lacking := [need for need in profile.needs if need not in subject.tracker.offers]:
        return Outcome({}, error=f"{subject.tracker.name} has no {' and no '.join(lacking)}")
    job = Job(
        profile=profile,
        subject=subject,
        python=python,
        mode=plan.mode,
        options=_options(plan, profile),
        timeout_s=plan.timeout_s,
        server=plan.server,
    )
    outcome = job.run(plan.directory)
    if missing := [m.name for m in plan.metrics(profile) if not outcome.error and m.name not in outcome.metrics]:
        raise Error(f"{profile.path}: measure() gave no {', '.join(missing)}, which METRICS promises")
    return outcome


def _brief(metrics: Sequence[Metric], outcome: Outcome) -> str:
    if outcome.error:
        return f"failed: {outcome.error}"
    return ", ".join(f"{m.name} {outcome.metrics[m.name]:.4g} {m.unit}" for m in metrics)


def _options(plan: Plan, profile: Profile) -> dict[str, float]:
    return {name: value for name, value in plan.options.items() if name in profile.options}


def _records(
    plan: Plan, profile: Profile, subject: Subject, outcomes: list[Outcome], environment: Environment
) -> list[Record]:
    error = outcomes[-1].error
    model, config = model_of(profile.name), "-".join([plan.mode, *filter(None, [format_variant(subject.features)])])
    return [
        Record(
            id=make_id(),
            benchmark=f"{model}/{subject.tracker.name}/{metric.name}/{config}",
            model=model,
            mode=metric.name,
            config=config,
            version=_VERSION,
            subject=subject.tracker.name,
            subject_version=outcomes[0].version,
            server=f"strobe {plan.server.version}".strip() if plan.server else "",
            variant={"mode": plan.mode, **subject.features},
            metric=metric.name,
            unit=metric.unit,
            better=metric.better,
            samples=() if error else tuple(float(outcome.metrics[metric.name]) for outcome in outcomes),
            error=error,
            options=_options(plan, profile),
            environment=environment,
            command=command_of(plan, profile, subject),
        )
        for metric in plan.metrics(profile)
    ]


def command_of(plan: Plan, profile: Profile, subject: Subject) -> str:
    """Return the command that measures a profile on a subject again."""
    parts = ["strobe", "bench", "load", "--profile", profile.word, "--tracker", subject.tracker.word]
    parts += ["--mode", plan.mode]
    if subject.features:
        parts += ["--variant", format_variant(subject.features)]
    parts += ["--repeat", str(plan.repeat)]
    for name, value in _options(plan, profile).items():
        parts += ["--option", f"{name}={format_number(value)}"]
    if plan.directory is not None:
        parts += ["--directory", str(plan.directory.resolve())]
    if plan.server is not None and not plan.is_own_server:
        parts += ["--server", plan.server.url]
    if plan.timeout_s != _TIMEOUT_S:
        parts += ["--timeout", format_number(plan.timeout_s)]
    return shlex.join(parts)
