"""The page in a real Chromium (``make test-browser``): no errors, no network, tables sort, figures
zoom. Pictures of the pages are kept in ``build/browser``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cudla_sim.tools import report
from tests.conftest import ROOT

pytestmark = pytest.mark.browser
DATA = ROOT / "c_examples" / "cudla" / "data"
PICTURES = ROOT / "build" / "browser"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    assert program, "no Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        # root has no sandbox of its own in a container
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page in the browser, with whatever it complained about or asked for."""

    def __init__(self, chromium: Any, file: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab = chromium.new_page(viewport={"width": 1300, "height": 900})
        self.tab.on("console", lambda m: self.complaints.append(f"{m.type}: {m.text}"))
        self.tab.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.tab.on("request", lambda r: self.requests.append(r.url))
        self.tab.goto(file.as_uri())
        self.tab.wait_for_selector(".plotly .main-svg")

    def column(self, section: str, number: int) -> list[str]:
        cells = self.tab.locator(f"#{section} tbody tr td:nth-child({number})")
        return [str(v) for v in cells.evaluate_all("all => all.map(c => c.dataset.value)")]

    def sort(self, section: str, number: int) -> list[str]:
        self.tab.locator(f"#{section} th:nth-child({number}) button").click()
        return self.column(section, number)

    def zoom(self, figure: str) -> tuple[tuple[float, float], tuple[float, float]]:
        """Ranges of the time axis before and after the middle of the figure is dragged over."""
        before = self.range(figure)
        box = self.tab.locator(f"#{figure} .nsewdrag").first.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.tab.mouse.move(box["x"] + 0.25 * box["width"], y)
        self.tab.mouse.down()
        self.tab.mouse.move(box["x"] + 0.75 * box["width"], y, steps=8)
        self.tab.mouse.up()
        self.tab.wait_for_function(
            f"() => document.getElementById('{figure}')._fullLayout.xaxis.range[0] != {before[0]}"
        )
        return before, self.range(figure)

    def range(self, figure: str) -> tuple[float, float]:
        low, high = self.tab.evaluate(
            f"() => document.getElementById('{figure}')._fullLayout.xaxis.range"
        )
        return float(low), float(high)


def keep(opened: Opened, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    opened.tab.screenshot(path=str(PICTURES / name), full_page=True)
    assert (PICTURES / name).read_bytes()[:4] == b"\x89PNG"


def test_a_loadable(chromium: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    report.write(DATA / "digits_int8.nvdla", file)
    page = Opened(chromium, file)
    heads = page.tab.locator("#layers th button").all_inner_texts()
    cycles = heads.index("cycles") + 1
    first = [int(v) for v in page.column("layers", cycles)]
    assert [int(v) for v in page.sort("layers", cycles)] == sorted(first)
    assert [int(v) for v in page.sort("layers", cycles)] == sorted(first, reverse=True)
    units = page.column("layers", 2)
    assert page.sort("layers", 2) == sorted(units)
    before, after = page.zoom("timeline-figure-0")
    length = before[1] - before[0]
    assert after[1] - after[0] == pytest.approx(0.5 * length, rel=0.05)
    assert after[0] == pytest.approx(before[0] + 0.25 * length, abs=0.05 * length)
    keep(page, "loadable.png")
    assert page.complaints == []
    assert page.requests == [file.as_uri()]


def test_a_trace_with_engines_fences_and_dpus(chromium: Any, tmp_path: Path) -> None:
    import cudla_sim
    from cudla_sim.core.fence import Timeline
    from cudla_sim.core.hardware import Part, Step
    from cudla_sim.obs import trace

    source, file = tmp_path / "trace.json", tmp_path / "page.html"
    cudla_sim.reset()
    trace.start(str(source))
    sync = Timeline("sync object", shown=True)
    sync.advance(3)
    assert sync.wait(2)
    cycles = {f"0.{chip}.{member}": 100 * chip + member for chip in range(8) for member in range(8)}
    parts = [Part("tasklet 0", "DPU 0.7.7", 0, 1e-3, {"instructions": 5, "retries": 0})]
    details = {"dpus": 64, "dpu_cycles": cycles}
    cudla_sim.process.timeline.add(Step("DPUs", "launch k", 1e-3, 707), details, parts)
    trace.stop()
    cudla_sim.reset()
    report.write(source, file)
    page = Opened(chromium, file)
    assert page.tab.locator("#heat .heatmaplayer image").count() == 1
    assert page.column("tasklets", 3) == ["5"]
    assert "signal to wait" in page.tab.locator("#host .legend").text_content()
    before, after = page.zoom("timeline-figure-0")
    assert after[1] - after[0] < before[1] - before[0]
    keep(page, "trace.png")
    assert page.complaints == []
    assert page.requests == [file.as_uri()]


def at_the_graph(chromium: Any, file: Path) -> Opened:
    report.write(DATA / "digits_int8.nvdla", file)
    page = Opened(chromium, file)
    page.tab.evaluate("document.getElementById('graph').scrollIntoView()")
    page.tab.wait_for_selector("#graph .box")
    return page


def test_a_layer_is_chosen_everywhere(chromium: Any, tmp_path: Path) -> None:
    page = at_the_graph(chromium, tmp_path / "page.html")

    def boxes() -> list[str]:
        found = page.tab.locator("#graph .box.chosen")
        return sorted(set(found.evaluate_all("all => all.map(b => b.dataset.key)")))

    def chosen(figure: str) -> list[str]:
        marks = page.tab.evaluate(
            f"document.getElementById('{figure}').data.flatMap(t => (t.selectedpoints || [])"
            ".map(i => t.customdata[i]))"
        )
        return sorted(set(marks))

    page.tab.locator("#layers tbody tr").nth(2).click()
    assert page.tab.locator("tr.chosen").count() == 1
    assert chosen("timeline-figure-0") == boxes() == ["2"]
    first = page.tab.locator("#graph .box[data-key='0']").first
    first.click()
    assert chosen("timeline-figure-0") == boxes() == ["0"]
    cycles = page.tab.locator("#graph aside tr", has_text="cycles").inner_text()
    heads = page.tab.locator("#layers th button").all_inner_texts()
    taken = int(page.column("layers", heads.index("cycles") + 1)[0])
    assert f"{taken:,} (" in cycles
    page.tab.keyboard.press("Escape")
    assert page.tab.locator("tr.chosen").count() == 0
    assert chosen("timeline-figure-0") == boxes() == []
    assert page.tab.locator("#graph aside tr").count() == 0
    assert page.complaints == []


def test_boxes_lie_below_what_they_read_and_take_colours(chromium: Any, tmp_path: Path) -> None:
    page = at_the_graph(chromium, tmp_path / "page.html")
    places = [box.bounding_box() for box in page.tab.locator("#graph .box").all()]
    frames = sorted((p["y"], p["y"] + p["height"]) for p in places if p is not None)
    assert len(frames) == len(places) > 5
    # a chain: none beside another, none over another
    assert all(above[1] < below[0] for above, below in pairwise(frames))
    paint = "all => all.map(b => getComputedStyle(b.querySelector('.body')).fillOpacity)"
    assert len(set(page.tab.locator("#graph .box").evaluate_all(paint))) == 1
    page.tab.select_option("#graph select", "time")
    depths = {float(v) for v in page.tab.locator("#graph .box").evaluate_all(paint)}
    assert max(depths) == pytest.approx(0.84)
    assert min(depths) == pytest.approx(0.04)  # inputs and outputs
    width = page.tab.locator("#graph svg").bounding_box()
    page.tab.get_by_title("larger").click()
    wider = page.tab.locator("#graph svg").bounding_box()
    assert width is not None
    assert wider is not None
    assert wider["width"] == pytest.approx(1.25 * width["width"], rel=0.01)
    assert page.complaints == []


def test_nothing_is_wider_than_a_narrow_screen(chromium: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    report.write(DATA / "digits_int8.nvdla", file)
    page = Opened(chromium, file)
    page.tab.set_viewport_size({"width": 400, "height": 800})
    page.tab.wait_for_timeout(300)
    assert page.tab.evaluate("document.documentElement.scrollWidth") == 400
    keep(page, "narrow.png")
