"""The published page, in a real browser, from a disk: it draws everything, asks nobody, fits a phone."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Locator, Page, expect

from strobe.bench.publish import publish
from tests.bench.publish.conftest import VIEWS, OpenPage
from tests.bench.publish.suite import records
from tests.web.accessibility import violations
from tests.web.clipboard import copy, pasted

pytestmark = pytest.mark.slow


def _show(page: Page, view: str) -> None:
    page.locator(f"nav a[href='#{view}']").click()
    expect(page.locator("nav a[aria-current]")).to_have_attribute("href", f"#{view}")


@pytest.mark.parametrize("width", [1440, 390])
def test_every_view_draws_and_fits(open_page: OpenPage, width: int) -> None:
    page = open_page(width=width)
    for view in VIEWS:
        _show(page, view)
        expect(page.locator("main")).not_to_be_empty()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        text = page.locator("main").inner_text()
        assert not [odd for odd in ("[object", "undefined", "NaN") if odd in text], view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(open_page: OpenPage, scheme: str) -> None:
    page = open_page(scheme=scheme)
    for view in VIEWS:
        _show(page, view)
        if view == "results":
            page.get_by_role("button", name="Details of").first.click()
        assert violations(page) == [], view


def test_a_table_per_system_with_signs_and_badges(open_page: OpenPage) -> None:
    page = open_page()
    expect(page.locator("main h2")).to_contain_text(["Intel Xeon Platinum 8370C, 2 CPUs", "AMD EPYC 9654, 16 CPUs"])
    cells = page.locator("tr.row", has_text="512").filter(has_text="OOTB").locator("td")
    assert cells.all_inner_texts()[1:6] == ["DLRM", "OOTB", "Inference", "tiny-100k", "512"]
    expect(page.locator("tr.row", has_text="cvt-13-int8")).to_contain_text("incorrect")
    expect(page.locator("tr.row", has_text="cvt-13").filter(has_text="failed")).to_have_count(1)
    left_out = page.locator("tr.row", has_text="cvt-21")
    expect(left_out).to_contain_text("left out")
    expect(left_out.locator(".bad")).to_have_count(0)  # it is no failure
    expect(page.get_by_text("unstable", exact=True)).to_have_count(1)
    expect(page.get_by_text("noisy", exact=True)).to_have_count(1)


def test_a_score_shows_its_distribution_to_pointer_and_keyboard(open_page: OpenPage) -> None:
    page = open_page()
    hint = page.locator("#hint")
    score = page.locator("td.score span[tabindex]").first
    expect(hint).to_be_hidden()
    score.hover()
    expect(hint).to_contain_text("Share of 600 steps that are quicker")
    expect(hint.locator("polyline")).to_have_count(1)
    page.mouse.move(5, 5)
    expect(hint).to_be_hidden()
    score.focus()
    expect(hint).to_be_visible()
    page.keyboard.press("Escape")
    expect(hint).to_be_hidden()


def _open(page: Page, row: str) -> Locator:
    """Open the first row of that name and return its details."""
    page.get_by_role("button", name=f"Details of {row}").first.click()
    return page.locator("tr.more:visible")


def test_a_row_opens_to_its_conditions(open_page: OpenPage) -> None:
    more = _open(open_page(), "regnety/optimized/inference/400MF-int8")
    expect(more).to_contain_text("batch norms folded into convolutions")
    expect(more).to_contain_text("yes, error 1.2e-1")


def _fact(details: Locator, name: str) -> Locator:
    return details.locator(f"dt:text-is('{name}') + dd")


def test_a_row_shows_the_state_of_its_machine(open_page: OpenPage) -> None:
    page = open_page()
    quiet = _open(page, "dlrm/ootb/inference/tiny-100k")
    expect(_fact(quiet, "Load before")).to_have_text("0.42")
    expect(_fact(quiet, "Steal")).to_have_text("0.0 %")
    page.get_by_role("searchbox").fill("xlm-r/ootb")  # one of its processes was disturbed, and the worst counts
    disturbed = _open(page, "xlm-r/ootb/training/base-s32-fp32")
    expect(_fact(disturbed, "Load before")).to_have_text("3.1")
    expect(_fact(disturbed, "Steal")).to_have_text("12.0 %")
    page.get_by_role("searchbox").fill("cvt/ootb/training/cvt-13")  # never began
    expect(_fact(_open(page, "cvt/ootb/training/cvt-13"), "Steal")).to_have_count(0)


@pytest.mark.parametrize("has_clipboard", [True, False])  # a page over plain HTTP has none, and copies the old way
def test_the_command_of_a_row_is_copied(open_page: OpenPage, has_clipboard: bool) -> None:
    page = open_page()
    if not has_clipboard:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    more = _open(page, "regnety/optimized/inference/400MF-int8")
    copy(more.get_by_role("button", name="Copy"))
    assert pasted(page.context) == "strobe bench run regnety/optimized/inference/400MF-int8 --batch 8"


def test_what_is_typed_sorted_and_open_outlives_another_view(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("searchbox").fill("dlrm")
    first = page.locator("table").first
    first.get_by_role("button", name="Config").click()
    _open(page, "dlrm/optimized/inference/tiny-100k-fp32")
    rows = first.locator("tr.row:visible").all_inner_texts()
    _show(page, "history")
    _show(page, "results")
    expect(page.get_by_role("searchbox")).to_have_value("dlrm")
    expect(first.locator("th", has_text="Config")).to_have_attribute("aria-sort", "ascending")
    expect(first.locator("tr.more:visible")).to_contain_text("dlrm/optimized/inference/tiny-100k-fp32")
    assert first.locator("tr.row:visible").all_inner_texts() == rows


def test_rows_are_filtered_and_sorted(open_page: OpenPage) -> None:
    page = open_page()
    first = page.locator("table").first
    page.get_by_role("searchbox").fill("regnety int8")
    expect(first.locator("tr.row:visible")).to_have_count(1)
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_text("No row matches.").first).to_be_visible()
    page.get_by_role("searchbox").fill("")
    first.get_by_role("button", name="Score").click()
    expect(first.locator("tr.row").first).to_contain_text("16,")
    expect(first.locator("th", has_text="Score")).to_have_attribute("aria-sort", "descending")
    first.get_by_role("button", name="Score").click()
    expect(first.locator("tr.row").first).to_contain_text("mlp_A")


def test_ootb_against_optimized_with_verdicts(open_page: OpenPage) -> None:
    page = open_page("implementations")
    row = page.locator("tr.row", has_text="regnety/optimized/inference/400MF-int8").first
    expect(row).to_contain_text("faster")
    row.locator("span[tabindex]").hover()
    expect(page.locator("#hint")).to_contain_text("25.0 %, assumed: so few pairs")
    expect(page.locator("main")).to_contain_text("Geometric mean")


def test_any_two_of_the_newest_commits_are_compared(open_page: OpenPage) -> None:
    page = open_page("commits")
    row = page.locator("tr.row", has_text="regnety/optimized/inference/400MF-int8")
    expect(row).to_contain_text("0.995×")  # two commits after the step
    select = page.get_by_label("A → B")
    expect(select.locator("option").first).to_have_text(re.compile(r"16a7f3c9, 2026-11-13 06:00 .* 17a7f3c9"))
    expect(select.locator("option")).to_have_count(36)  # of nine commits
    select.select_option(index=7)  # before the step
    expect(row).to_contain_text("0.89×")
    expect(page.locator("tr", has_text="torch").last).to_contain_text("2.12.0")
    step = select.locator("option", has_text=re.compile(r"11a7f3c9.* 12a7f3c9")).get_attribute("value")
    select.select_option(step)
    expect(row).to_contain_text("0.9")
    expect(row.get_by_text("inconclusive")).to_have_attribute("title", re.compile("within the noise floor|hides it"))


def test_systems_are_compared_with_what_differs(open_page: OpenPage) -> None:
    page = open_page("systems")
    expect(page.locator("main")).to_contain_text("AMD EPYC 9654")
    expect(page.locator("tr", has_text="flags")).to_contain_text("avx512_bf16")


def test_history_shows_the_step_and_its_commits_first(open_page: OpenPage) -> None:
    page = open_page("history")
    card = page.locator(".card").first
    expect(card).to_contain_text("regnety/optimized/inference/400MF-int8")
    expect(card).to_contain_text("against best")
    expect(card).to_contain_text("11a7f3c9..12a7f3c9")
    expect(card.locator("rect.band")).to_have_count(2)  # what noise stays within, for each level
    card.locator("circle").first.hover()
    expect(page.locator("#hint")).to_contain_text("2026-11-01")


def test_a_version_that_was_replaced_has_ended_and_comes_last(open_page: OpenPage, tmp_path: Path) -> None:
    rows = [one for one in records() if one.config == "400MF-int8"]
    newer = [msgspec.structs.replace(one, id=f"99{one.id}", version=one.version + 1) for one in rows[:3]]
    page = open_page("history", of=publish([*rows, *newer], tmp_path))
    expect(page.locator("main")).to_contain_text("0 slower than at their best")
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator(".card").first).to_contain_text(f"now, 3 sessions, v{newer[0].version}")
    ended = page.locator(".card").last
    expect(ended.locator(".chip")).to_have_text("ended")
    expect(ended).to_contain_text(f"in the end, 14 sessions, v{rows[0].version}")


def test_curves_have_a_point_per_batch_and_the_limit(open_page: OpenPage) -> None:
    page = open_page("curves")
    card = page.locator(".card", has_text="DLRM Inference tiny-100k").first
    expect(card.locator("circle")).to_have_count(9)
    # The limit is one of p99: no other percentile may stand beside it.
    expect(card).to_contain_text("p99 limit 60")
    expect(card).to_contain_text("p99 of a step, ms")
    missed = card.locator("circle[fill='var(--surface)']")
    expect(missed).to_have_count(1)
    expect(missed).to_have_attribute("aria-label", re.compile("batch 512.*missed its limit"))
    missed.hover()
    expect(page.locator("#hint")).to_contain_text("p99")


def test_an_undecided_point_of_a_curve_does_not_look_as_if_it_had_met_its_limit(
    open_page: OpenPage, tmp_path: Path
) -> None:
    rows = [one for one in records() if one.benchmark == "dlrm/ootb/inference/tiny-100k"][:3]
    missed = next(one.latency for one in rows if one.latency and one.latency.status == "missed")
    undecided = msgspec.structs.replace(missed, status="undecided")
    rows = [msgspec.structs.replace(one, latency=undecided if one.batch_size == 512 else one.latency) for one in rows]
    card = open_page("curves", of=publish(rows, tmp_path)).locator(".card")
    hollow = card.locator("circle[fill='var(--surface)']")
    expect(hollow).to_have_count(1)
    expect(hollow).to_have_attribute("stroke-dasharray", "2 2")
    expect(hollow).to_have_attribute("aria-label", re.compile("batch 512.*too few steps to tell whether it keeps its"))
    expect(card).to_contain_text("hollow and dashed: too few steps to tell whether the limit is kept")
    expect(card).not_to_contain_text("the limit is missed")


def test_accuracy_against_cost_with_the_best_and_what_is_allowed(open_page: OpenPage) -> None:
    page = open_page("pareto")
    expect(page.locator("main > section h2")).to_contain_text(["Intel Xeon Platinum 8370C", "AMD EPYC 9654"])
    card = page.locator(".card", has_text="DLRM Inference tiny-100k batch 512")
    names = ["OOTB", "Optimized fp32", "Optimized embed8-int8"]
    for name in names:
        expect(card.locator("text.name", has_text=re.compile(f"^{name}$"))).to_be_visible()
    expect(card.locator("circle.dot")).to_have_count(2 * len(names))  # in the picture, and in the table below
    expect(card.locator("g.mark circle.best")).to_have_count(2)
    expect(card.locator("path.cap")).to_have_count(3)
    exact = card.locator("tbody tr", has_text="OOTB")
    expect(exact).to_contain_text("beaten")  # its error of 0 is no better than what fp32 rounds
    assert exact.locator("td").all_inner_texts()[2:] == ["0", "0.001"]
    assert card.locator("tbody tr").last.locator("td").all_inner_texts()[2:] == ["0", "0.001"]  # the cheapest first
    mark = card.get_by_role("img", name=re.compile("^Optimized embed8-int8: .* µs per example, error 0.12$"))
    mark.hover()
    expect(page.locator("#hint")).to_contain_text("OOTB float64")
    page.mouse.move(5, 5)
    mark.focus()
    expect(page.locator("#hint")).to_contain_text("Tolerance0.3")


def test_what_is_incorrect_is_marked_as_such(open_page: OpenPage) -> None:
    page = open_page("pareto")
    card = page.locator(".card", has_text="CvT Inference cvt-13")
    expect(card.locator("text.name", has_text="Optimized int8, incorrect")).to_be_visible()
    expect(card.locator("g.mark path.wrong")).to_have_count(1)
    expect(card.locator("g.mark circle.best")).to_have_count(1)
    expect(card.locator("tbody tr", has_text="int8")).to_contain_text("incorrect")


#: how far names of a picture reach over its sides, and by how much two of them cover each other at most, in pixels
COVERED = """
svg => {
  const boxes = [...svg.querySelectorAll("text.name")].map((name) => name.getBBox());
  const over = boxes.map((box) => Math.max(-box.x, box.x + box.width - svg.viewBox.baseVal.width));
  const end = (box, at, size) => box[at] + box[size];
  const shared = (one, other, at, size) => (
    Math.min(end(one, at, size), end(other, at, size)) - Math.max(one[at], other[at]));
  const both = boxes.flatMap((one, index) => boxes.slice(0, index).map((other) => (
    Math.min(shared(one, other, "x", "width"), shared(one, other, "y", "height")))));
  return [boxes.length, Math.max(...over), Math.max(...both)];
}
"""


@pytest.mark.parametrize("width", [1440, 390])
def test_names_of_marks_stay_inside_and_do_not_cover_each_other(open_page: OpenPage, width: int) -> None:
    page = open_page("pareto", width=width)
    pictures = page.locator(".card > svg").all()
    assert len(pictures) > 5
    for picture in pictures:
        num_names, over, covered = picture.evaluate(COVERED)
        assert num_names > 1
        assert over <= 0
        assert covered <= 1


def test_themes(open_page: OpenPage) -> None:
    page = open_page(scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(14, 15, 18)"
    page.get_by_role("button", name="Theme: auto").click()
    assert page.evaluate(background) == "rgb(247, 247, 248)"


def test_views_are_addresses(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("link", name="History").click()
    assert page.url.endswith("#history")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_be_visible()


def test_rows_that_are_not_compared_are_named(open_page: OpenPage, tmp_path: Path) -> None:
    rows = list(records())
    alone = msgspec.structs.replace(rows[-1], benchmark="dlrm/ootb/inference/only-here", config="only-here", id="alone")
    page = open_page("commits", of=publish([*rows, alone], tmp_path))
    told = page.locator(".left-out")
    expect(told).to_contain_text("Not compared:")
    expect(told).to_contain_text("dlrm/ootb/inference/only-here")
    expect(told).to_contain_text("only in B")


@pytest.mark.parametrize("view", ["results", "commits"])
def test_a_long_name_leaves_the_scores_on_the_screen(open_page: OpenPage, tmp_path: Path, view: str) -> None:
    long = "test_a_parser_reads_" + "_".join(["every_form_that_was_ever_seen_in_the_wild"] * 4)
    rows = [
        msgspec.structs.replace(one, benchmark=f"tests/test_it.py::{long}", model="tests/test_it.py", config=long)
        if one.config == "400MF-int8"
        else one
        for one in records()
    ]
    page = open_page(view, of=publish(rows, tmp_path), width=1280)
    for box in page.locator(".scroll").all():
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
