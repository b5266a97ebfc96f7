"""Ranks of torchrun, SLURM and MPI: rank 0 records by default; or all into one run, found without being told an id."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest

import strobe
from strobe.errors import UsageError
from strobe.home import Home
from strobe.journal import Replay
from strobe.sdk import joint
from strobe.sdk.rank import Place, find_place
from strobe.sdk.run import Run
from tests.sdk.scripts import column, environment, execute, only_replay, replay_of, start

TORCHRUN = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}


def place(**env: str) -> Place:
    return find_place(env, parent=lambda: "parent")


# -- what the launcher says


@pytest.mark.parametrize(
    ("env", "rank", "size"),
    [
        ({}, 0, 1),
        ({"RANK": "3", "WORLD_SIZE": "8"}, 3, 8),
        ({"RANK": "0", "WORLD_SIZE": "1"}, 0, 1),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "16", "SLURM_JOB_ID": "77"}, 5, 16),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_JOB_ID": "77"}, 0, 1),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, 2, 4),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, 1, 2),
        ({"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2"}, 1, 2),
        ({"RANK": "3"}, 3, 4),
        ({"RANK": "", "WORLD_SIZE": ""}, 0, 1),
        ({"RANK": "first"}, 0, 1),
        # torchrun on each of two nodes of a SLURM job: its ranks count
        ({"RANK": "9", "WORLD_SIZE": "16", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, 9, 16),
        # a leftover of a single process does not hide the real launcher
        ({"RANK": "0", "WORLD_SIZE": "1", "SLURM_PROCID": "3", "SLURM_NTASKS": "4"}, 3, 4),
    ],
)
def test_rank_and_size(env: dict[str, str], rank: int, size: int) -> None:
    found = place(**env)
    assert (found.rank, found.size) == (rank, size)
    assert found.is_alone == (size == 1)


def test_a_named_job_keeps_its_name_over_restarts_and_each_is_a_launch() -> None:
    names = {**TORCHRUN, "TORCHELASTIC_RUN_ID": "job-5"}
    first = place(**names, TORCHELASTIC_RESTART_COUNT="0")
    again = place(**names, TORCHELASTIC_RESTART_COUNT="1")
    assert first.job == again.job
    assert first.launch != again.launch
    assert "parent" not in first.job


@pytest.mark.parametrize("name", ["none", "", "default"])
def test_a_job_without_a_name_is_named_after_the_process_that_started_it(name: str) -> None:
    assert place(**TORCHRUN, TORCHELASTIC_RUN_ID=name).job == "parent"
    assert place(RANK="0", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1").job == "parent"


def test_two_trainings_on_the_same_port_are_two_jobs() -> None:
    assert find_place(TORCHRUN, lambda: "monday").launch != find_place(TORCHRUN, lambda: "tuesday").launch


def test_ranks_on_several_hosts_need_a_name() -> None:
    spread = {**TORCHRUN, "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "node1"}
    assert (place(**spread).job, place(**spread).launch) == ("", "")
    assert place(**spread, SLURM_JOB_ID="5", SLURM_STEP_ID="0").job != place(**spread, SLURM_JOB_ID="6").job


def test_a_requeued_slurm_job_is_the_same_job() -> None:
    names = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}
    assert place(**names).job == place(**names, SLURM_RESTART_COUNT="1").job
    assert place(**names).launch != place(**names, SLURM_RESTART_COUNT="1").launch
    assert place(**names).job != place(**{**names, "SLURM_STEP_ID": "1"}).job


def test_mpi_jobs_are_named_by_their_runtime() -> None:
    names = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}
    assert place(**names, PMIX_NAMESPACE="prterun-host-123@1").job == "PMIX_NAMESPACE=prterun-host-123@1"
    assert place(**names, OMPI_COMM_WORLD_LOCAL_SIZE="4").job == "parent"


@pytest.mark.slow
def test_the_real_parent_is_named_the_same_by_all_its_children(home: Home) -> None:
    code = "from strobe.sdk.rank import find_place; print(find_place().launch)"
    env = {**environment(home), **TORCHRUN}
    said = {
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(said) == 1


# -- who records


Launch = Callable[..., Run]


@pytest.fixture
def as_rank(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launch]:
    """Start a run as one rank of a launch: the ranks of a job in one process, one after the other."""
    runs: list[Run] = []

    def init(rank: int, *, restart: int = 0, size: int = 2, starts: int = 0, **options: object) -> Run:
        joint._starts.clear()
        joint._starts.update({f"p|{options.get('id')}|{_launch(restart)}": starts - 1} if starts else {})
        for name, number in (("RANK", rank), ("WORLD_SIZE", size), ("TORCHELASTIC_RESTART_COUNT", restart)):
            monkeypatch.setenv(name, str(number))
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "job-1")
        run = strobe.init(project="p", reinit="create_new", **options)  # type: ignore[arg-type]
        runs.append(run)
        return run

    def _launch(restart: int) -> str:
        return f"TORCHELASTIC_RUN_ID=job-1|TORCHELASTIC_RESTART_COUNT={restart}"

    yield init
    for run in runs:
        run.finish()


def test_only_rank_zero_records_by_default(home: Home, as_rank: Launch) -> None:
    runs = [as_rank(rank) for rank in range(2)]
    for run in runs:
        run.log({"rank": run.disabled})
        run.finish()
    assert [run.disabled for run in runs] == [False, True]
    assert column(only_replay(home), "rank") == [False]


def test_all_ranks_write_one_run_and_the_first_speaks_for_it(home: Home, as_rank: Launch) -> None:
    runs = [as_rank(rank, settings={"ranks": "all"}, size=3) for rank in (2, 0, 1)]
    assert len({run.path for run in runs}) == 1
    assert len({run.name for run in runs}) == 1
    assert [run.attempt for run in runs] == [1, 1, 1]
    assert [run.resumed for run in runs] == [False, False, False]
    for run in runs:
        run.log({f"rank{run._recorder.rank}/loss": 1})
    runs[0].finish(exit_code=1)
    assert only_replay(home).state == "running"
    runs[1].finish()
    replay = only_replay(home)
    assert replay.state == "finished"
    assert next(replay.rows()).keys() >= {"rank0/loss", "rank1/loss", "rank2/loss"}
    assert sorted(writer.header.kind for writer in replay.attempts[0].writers.values()) == ["main", "rank", "rank"]


def test_each_rank_may_have_a_run_of_its_own(home: Home, as_rank: Launch) -> None:
    """What wandb does, and scripts rely on that put all ranks into one group."""
    runs = [as_rank(rank, settings={"ranks": "each"}, group="ddp") for rank in (0, 1)]
    assert len({run.id for run in runs}) == 2
    for run in runs:
        run.log({"x": 1})
        run.finish()
        replay = replay_of(run._recorder.run_dir)
        assert (replay.state, replay.attributes["group"], column(replay, "x")) == ("finished", "ddp", [1])


def test_a_rank_that_came_first_does_not_make_rank_zero_a_resumed_run(home: Home, as_rank: Launch) -> None:
    early = as_rank(1, settings={"ranks": "all"})
    for _ in range(5):
        early.log({"early": 1})
    late = as_rank(0, settings={"ranks": "all"})
    assert (late.resumed, late.starting_step) == (False, 0)


def test_a_restart_of_the_launch_is_a_new_attempt_of_the_run(home: Home, as_rank: Launch) -> None:
    for rank in (0, 1):
        with as_rank(rank, settings={"ranks": "all"}, config={"lr": 1}) as run:
            for step in range(5):
                run.log({f"loss{rank}": step})
    # The ranks of the second launch come in another order and begin at the same step.
    for rank in (1, 0):
        with as_rank(rank, restart=1, settings={"ranks": "all"}) as run:
            assert (run.attempt, run.resumed, run.starting_step) == (2, True, 5)
            assert run.config["lr"] == 1
            run.log({f"loss{rank}": 50})
    replay = only_replay(home)
    assert len(replay.attempts) == 2
    assert column(replay, "loss0") == column(replay, "loss1") == [0, 1, 2, 3, 4, 50]


def test_a_second_run_of_one_job_is_another_run(home: Home, as_rank: Launch) -> None:
    first = [as_rank(rank, settings={"ranks": "all"}) for rank in (0, 1)]
    for run in first:
        run.finish()
    second = [as_rank(rank, settings={"ranks": "all"}, starts=1) for rank in (0, 1)]
    assert second[0].id == second[1].id != first[0].id


def test_an_id_given_to_all_ranks_is_theirs(home: Home, as_rank: Launch) -> None:
    runs = [as_rank(rank, settings={"ranks": "all"}, id="mine") for rank in (0, 1)]
    assert [(run.id, run.attempt) for run in runs] == [("mine", 1), ("mine", 1)]


@pytest.mark.parametrize("resume", ["allow", "never"])
def test_resume_never_is_about_the_past_and_not_about_the_other_ranks(home: Home, as_rank: Launch, resume: str) -> None:
    runs = [as_rank(rank, settings={"ranks": "all"}, id="mine", resume=resume) for rank in (1, 0)]
    assert [run.attempt for run in runs] == [1, 1]
    for run in runs:
        run.finish()
    if resume == "never":
        with pytest.raises(strobe.errors.RunExists):
            as_rank(0, restart=1, settings={"ranks": "all"}, id="mine", resume=resume)


def test_resume_must_without_a_past_leaves_nothing_behind(home: Home, as_rank: Launch) -> None:
    with pytest.raises(strobe.errors.RunNotFound):
        as_rank(0, settings={"ranks": "all"}, id="mine", resume="must")
    assert not home.runs.joinpath("local").exists()


def test_ranks_rewind_and_fork_together(home: Home, as_rank: Launch) -> None:
    with as_rank(0, settings={"ranks": "all"}, id="mine") as run:
        for step in range(10):
            run.log({"x": step})
    for rank in (1, 0):
        with as_rank(rank, restart=1, settings={"ranks": "all"}, resume_from="mine?_step=3") as run:
            assert (run.id, run.attempt, run.starting_step) == ("mine", 2, 4)
    for rank in (1, 0):
        with as_rank(rank, restart=2, settings={"ranks": "all"}, id="fork", fork_from="mine?_step=2") as run:
            assert (run.starting_step, run.resumed) == (3, False)
            run.log({"x": 100 + rank})
    replay = replay_of(run._recorder.run_dir)
    assert column(replay, "x") == [0, 1, 2, 100]
    # torchrun starts the same script again: the fork is there already and goes on
    with as_rank(0, restart=3, settings={"ranks": "all"}, id="fork", fork_from="mine?_step=2") as run:
        assert (run.resumed, run.starting_step) == (True, 4)


def test_ranks_that_share_no_name_are_told_to_pass_an_id(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {**TORCHRUN, "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "node1"}.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(UsageError, match="id="):
        strobe.init(project="p", settings={"ranks": "all"})


# -- real processes


RANK_SCRIPT = """
import os, strobe
run = strobe.init(project="p", config={"lr": 0.1})
rank = int(os.environ["RANK"])
for step in range(20):
    run.log({f"loss{rank}": step})
"""


@pytest.mark.slow
def test_eight_processes_that_start_at_once_make_one_attempt(home: Home) -> None:
    env = {**environment(home, STROBE_RANKS="all"), "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "x"}
    processes = [start(RANK_SCRIPT, home, env={**env, "RANK": str(rank)}) for rank in range(8)]
    for process in processes:
        _, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
    replay: Replay = only_replay(home)
    assert [len(attempt.writers) for attempt in replay.attempts] == [8]
    assert [len(column(replay, f"loss{rank}")) for rank in range(8)] == [20] * 8
    assert replay.state == "finished"


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.parametrize("ranks", ["zero", "all"])
def test_torchrun(home: Home, ranks: str) -> None:
    script = home.path / "train.py"
    home.path.mkdir(parents=True)
    script.write_text(
        textwrap.dedent("""
        import os, sys, time, strobe
        rank, restart = int(os.environ["RANK"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
        run = strobe.init(project="p", config={"lr": 0.1})
        for step in range(5):
            run.log({f"loss{rank}": step + 10 * restart})
        if rank == 1:
            open("logged", "w").close()
            if restart == 0:
                time.sleep(60)                            # torchrun kills it
        elif restart == 0:
            while not os.path.exists("logged"):
                time.sleep(0.01)
            sys.exit(3)
        """)
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=1"]
    done = subprocess.run(
        [*command, "--monitor-interval=0.1", str(script)],
        env=environment(home, STROBE_RANKS=ranks, OMP_NUM_THREADS="1"),
        cwd=home.path,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    if ranks == "zero":
        found = sorted((replay_of(run_dir) for run_dir in home.iter_runs()), key=lambda replay: replay.started_ns)
        assert [replay.state for replay in found] == ["failed", "finished"]
        assert [column(replay, "loss1") for replay in found] == [[], []]
        return
    replay = only_replay(home)
    assert [attempt.state for attempt in replay.attempts] == ["failed", "finished"]
    assert [len(attempt.writers) for attempt in replay.attempts] == [2, 2]
    assert column(replay, "loss0") == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert column(replay, "loss1") == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]


@pytest.mark.slow
def test_processes_spawned_with_rank_variables_find_each_other(home: Home) -> None:
    code = """
    import multiprocessing, os
    def work(rank):
        os.environ.update(RANK=str(rank), WORLD_SIZE="3", MASTER_ADDR="localhost", MASTER_PORT="29500")
        import strobe
        with strobe.init(project="p") as run:
            run.log({f"x{rank}": rank})
    if __name__ == "__main__":
        context = multiprocessing.get_context("spawn")
        children = [context.Process(target=work, args=(rank,)) for rank in range(3)]
        for child in children: child.start()
        for child in children: child.join()
    """
    done = execute(code, home, env=environment(home, STROBE_RANKS="all"))
    assert done.returncode == 0, done.stderr
    assert len(only_replay(home).attempts[0].writers) == 3
