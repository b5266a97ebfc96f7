"""The endpoint of `strobe ui` that answers with the benchmarks of a home."""

from __future__ import annotations

from strobe.bench.dashboard import _Book, endpoints
from strobe.bench.records import Record, append_records, results_path
from strobe.home import Home
from strobe.server.problem import Problem
from tests.bench.compare.results import result


def _page_or_detail(book: _Book) -> str:
    try:
        return book.page()
    except Problem as problem:
        return f"{problem.status}: {problem.detail}"


def test_the_page_is_made_again_when_results_have_changed(home: Home) -> None:
    book = _Book(home)
    path = results_path(home.path)
    assert _page_or_detail(book).startswith("404: this home has no benchmark results yet")
    append_records(path, [Record(benchmark="load/v1-empty", subject="strobe", metric="time_load", unit="s")])
    assert _page_or_detail(book).startswith("404: no results of benchmarks")
    append_records(path, [result([1.0, 2.0], model="Toy", mode="Inference", config="one")])
    first = book.page()
    assert "toy/ootb/inference/one-fp32" in first
    assert book.page() is first
    append_records(path, [result([1.0, 2.0], "toy/ootb/inference/two-fp32")])
    assert "toy/ootb/inference/two-fp32" in book.page()


def test_it_is_for_who_has_an_account(home: Home) -> None:
    (found,) = endpoints(home)
    assert (found.method, found.route, found.access) == ("GET", "/api/v1/benchmarks", "account")
