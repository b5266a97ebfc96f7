"""fork, spawn, forkserver, pools and data loaders: a child that logs becomes another writer of the run."""

from __future__ import annotations

import pytest

from strobe.home import Home
from tests.sdk.scripts import column, execute, only_replay

pytestmark = pytest.mark.slow


def test_a_forked_child_that_logs_becomes_a_writer(home: Home) -> None:
    code = """
    import os, strobe
    run = strobe.init(project="p", config={"lr": 1})
    run.log({"parent": 0})
    pid = os.fork()
    if pid == 0:
        run.log({"child": 1}, step=1)
        run.config["from_child"] = True
        os._exit(0)
    os.waitpid(pid, 0)
    run.log({"parent": 1})
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    replay = only_replay(home)
    assert column(replay, "parent") == [0, 1]
    assert column(replay, "child") == [1]
    assert replay.config == {"lr": 1, "from_child": True}
    assert replay.state == "finished"
    assert sorted(writer.header.kind for writer in replay.attempts[0].writers.values()) == ["fork", "main"]


def test_a_forked_child_that_does_not_log_leaves_no_trace(home: Home) -> None:
    code = """
    import os, sys, strobe
    run = strobe.init(project="p")
    run.log({"x": 0})
    pid = os.fork()
    if pid == 0:
        sys.exit(3)          # runs atexit in the child: the run must go on
    os.waitpid(pid, 0)
    run.log({"x": 1})
    """
    assert execute(code, home).returncode == 0
    replay = only_replay(home)
    assert column(replay, "x") == [0, 1]
    assert (replay.state, replay.exit_code) == ("finished", 0)
    assert len(replay.attempts[0].writers) == 1


def test_a_child_that_fails_does_not_fail_the_run(home: Home) -> None:
    code = """
    import os, strobe
    run = strobe.init(project="p")
    pid = os.fork()
    if pid == 0:
        run.log({"child": 1})
        raise RuntimeError("only the child")
    os.waitpid(pid, 0)
    run.log({"x": 1}, step=5)
    """
    assert execute(code, home).returncode == 0
    replay = only_replay(home)
    assert replay.state == "finished"
    assert column(replay, "child") == [1]


def test_a_fork_while_other_threads_log_never_deadlocks(home: Home) -> None:
    code = """
    import os, threading, strobe
    run = strobe.init(project="p")
    stop = False
    def spin():
        while not stop:
            run.log({"thread": 1})
    threads = [threading.Thread(target=spin) for _ in range(3)]
    for t in threads: t.start()
    for i in range(30):
        pid = os.fork()
        if pid == 0:
            run.log({"child": i}, step=i)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    stop = True
    for t in threads: t.join()
    """
    done = execute(code, home, timeout=90)
    assert done.returncode == 0, done.stderr
    assert sorted(column(only_replay(home), "child")) == list(range(30))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_children_log_into_the_run(home: Home, method: str) -> None:
    code = f"""
    import multiprocessing as mp
    import strobe
    def work(run, number):
        for i in range(10):
            run.log({{f"w{{number}}": i}}, step=i)
    if __name__ == "__main__":
        context = mp.get_context("{method}")
        run = strobe.init(project="p")
        workers = [context.Process(target=work, args=(run, n)) for n in range(3)]
        for worker in workers: worker.start()
        for worker in workers: worker.join()
        assert [w.exitcode for w in workers] == [0, 0, 0]
        run.log({{"done": 1}}, step=10)
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    replay = only_replay(home)
    for number in range(3):
        assert column(replay, f"w{number}") == list(range(10))
    assert column(replay, "done") == [1]
    assert replay.state == "finished"


def test_a_process_pool_shares_the_run(home: Home) -> None:
    code = """
    from concurrent.futures import ProcessPoolExecutor
    import strobe
    def work(number):
        strobe.log({f"job{number}": number}, step=number)
        return number
    if __name__ == "__main__":
        strobe.init(project="p")
        import multiprocessing as mp
        with ProcessPoolExecutor(2, mp_context=mp.get_context("fork")) as pool:
            assert list(pool.map(work, range(8))) == list(range(8))
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    replay = only_replay(home)
    assert [column(replay, f"job{n}") for n in range(8)] == [[n] for n in range(8)]


@pytest.mark.frameworks
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader_workers_neither_hang_nor_lose(home: Home, method: str) -> None:
    code = f"""
    import strobe, torch
    from torch.utils.data import DataLoader, Dataset
    class Numbers(Dataset):
        def __init__(self, run): self.run = run
        def __len__(self): return 32
        def __getitem__(self, index):
            self.run.log({{"seen": index}}, step=index)
            return index
    if __name__ == "__main__":
        run = strobe.init(project="p")
        for epoch in range(2):
            loader = DataLoader(Numbers(run), batch_size=4, num_workers=2, multiprocessing_context="{method}")
            for batch in loader:
                run.log({{"batch": batch.float().mean()}}, step=100 * (epoch + 1) + int(batch[0]))
    """
    done = execute(code, home, timeout=110)
    assert done.returncode == 0, done.stderr
    replay = only_replay(home)
    assert column(replay, "seen") == list(range(32))
    assert len(column(replay, "batch")) == 16
    assert replay.state == "finished"
