"""The built site in a real browser: nothing goes wrong, search finds (`make docs`)."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.site
SITE = ROOT / "build" / "site"
LEFT = "net::ERR_ABORTED"  # the browser left the page before its worker of the search was there
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not (SITE / "index.html").exists():
        pytest.fail("there is no build/site; make docs builds it")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A tab that notes everything that goes wrong in ``page.wrong``."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.wrong = []
        tab.on("console", lambda m: m.type == "error" and tab.wrong.append(m.text))
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.on("requestfailed", lambda r: r.failure != LEFT and tab.wrong.append(r.url))
        tab.on("response", lambda r: r.status >= 400 and tab.wrong.append(f"{r.status} {r.url}"))
        yield tab
        browser.close()


def test_every_page_opens_without_an_error(page: Any, address: str) -> None:
    page.wrong.clear()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    pages = sorted(SITE.rglob("*.html"))
    assert len(pages) > 40
    for file in pages:
        if file.name != "404.html":
            page.goto(f"{address}/{file.relative_to(SITE)}", wait_until="networkidle")
    assert page.wrong == []
    away = [url for url in requested if not url.startswith((address, "data:", "blob:"))]
    assert away == [], "everything comes from the site itself"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("cudlaMemRegister", "Functions: cuDLA"),
        ("CUDLA_SIM_DATAFLOWS", "Settings"),
        ("race", "UPMEM: checks and faults"),
    ],
)
def test_search_finds(page: Any, address: str, words: str, found: str) -> None:
    page.wrong.clear()
    page.goto(f"{address}/index.html", wait_until="networkidle")
    page.click("input.md-search__input")
    page.fill("input.md-search__input", "")
    page.locator("input.md-search__input").press_sequentially(words)
    result = page.locator(".md-search-result__item", has_text=found).first
    result.wait_for(state="visible", timeout=60_000)
    assert page.wrong == []


def test_pictures_are_shown(page: Any, address: str) -> None:
    page.goto(f"{address}/cupva/dataflows.html", wait_until="networkidle")
    script = "[...document.querySelectorAll('article img')].map(i => i.naturalWidth)"
    widths = page.evaluate(script)
    source = (ROOT / "docs" / "cupva" / "dataflows.md").read_text()
    assert len(widths) == source.count("![") >= 5
    assert all(widths)
    page.screenshot(path=str(ROOT / "build" / "site.png"))
