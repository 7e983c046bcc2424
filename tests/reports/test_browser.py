"""The HTML report in a browser: Chromium without a network, by keyboard, in the dark, on a phone.

Skipped where there is no Chromium (Debian: `apt-get install chromium`).
"""

import re
import shutil
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.model import Report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
# Waited for with `expect`: wait_for_function polls by eval, which the page's own policy forbids.
expect.set_options(timeout=30_000)
WIDE, NARROW = (1280, 900), (390, 844)
SHOWN = "[...document.querySelectorAll('.checks [data-state]:not([hidden])')]"

pytestmark = pytest.mark.slow


@dataclass
class Opened:
    """A page, what it asked for, and what it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])

    def states(self) -> list[str]:
        found: list[str] = self.page.evaluate(f"{SHOWN}.map((e) => e.dataset.state)")
        return found


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the PATH")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Generator[Open]:
    contexts: list[BrowserContext] = []

    def open_(report: Report, scheme: str = "light", size: tuple[int, int] = WIDE) -> Opened:
        file = tmp_path / f"{len(contexts)}.html"
        file.write_text(renderer("html")(report), encoding="utf-8")
        context = browser.new_context(
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": size[0], "height": size[1]},
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        seen = Opened(context.new_page())
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
        seen.page.goto(file.as_uri())
        if seen.page.query_selector("[data-plot]"):
            ended = re.compile("drawn|failed")
            expect(seen.page.locator("html")).to_have_attribute("data-plots", ended)
        return seen

    yield open_
    for context in contexts:
        context.close()


def serious_faults(page: Page) -> list[str]:
    """What axe-core finds that keeps people out."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['nodes'][0]['html']}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_all_plots_are_drawn_and_the_page_keeps_people_in(
    specimens: dict[str, Report], opened: Open, scheme: str, size: tuple[int, int]
) -> None:
    seen = opened(specimens["plots"], scheme, size)
    assert seen.complaints == []
    assert [url.partition(":")[0] for url in seen.requests] == ["file"]
    marks = {
        "steps": ".point",
        "distribution": ".bars .point",
        "parts": ".bars .point",
        "memory": ".js-line",
        "plan": ".js-line",
        "replicas": ".hm image",
        "prediction": ".bars .point",
        "roofline": ".point",
    }
    for plot, mark in marks.items():
        assert seen.page.locator(f"#plot-{plot} {mark}").count() > 0, plot
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = (
        seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 22)"
    )
    assert dark == (scheme == "dark")
    drawn = seen.page.evaluate("document.querySelector('.main-svg').style.background")
    assert drawn == seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert serious_faults(seen.page) == []


@pytest.mark.parametrize("kind", ["hostile", "long", "all-skipped", "empty", "profile"])
def test_reports_without_plots_are_as_good(
    specimens: dict[str, Report], opened: Open, kind: str
) -> None:
    seen = opened(specimens[kind], "dark", NARROW)
    assert seen.complaints == []
    assert [url.partition(":")[0] for url in seen.requests] == ["file"]
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_faults(seen.page) == []


def test_a_table_is_sorted_and_searched(specimens: dict[str, Report], opened: Open) -> None:
    page = opened(specimens["plots"]).page
    table = page.locator("table.data").first
    head = table.locator("th", has_text="ex/s/chip")
    head.locator("button").press("Enter")
    assert table.locator("tbody tr").first.locator("td").nth(4).text_content() == "4,938"
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").press("Enter")
    assert table.locator("tbody td").nth(4).text_content() in ("", "1,610")
    page.locator("details .find input").first.fill("v6e best")
    assert table.locator("tbody tr:visible").count() == 1


def test_markup_in_names_stays_text_in_plots(specimens: dict[str, Report], opened: Open) -> None:
    odd = "<b>bold</b><a href='http://example.org'>%{x}</a><img src=x onerror=alert(1)>"
    report = replace(
        specimens["empty"],
        series=tuple(
            made.series(kind, (1.0, 2.0), name, source=odd)
            for kind in ("step_part", "memory", "replica_step")
            for name in (odd, "plain")
        ),
    )
    seen = opened(report)
    assert seen.complaints == []
    names = seen.page.locator("#plot-parts .legendtext").all_text_contents()
    assert odd in names
    assert seen.page.locator(".canvas a, .canvas img, .canvas b").count() == 0
    seen.page.locator("#plot-parts .bars .point path").first.hover(force=True)
    seen.page.wait_for_selector("#plot-parts .hoverlayer .hovertext")
    hover = seen.page.locator("#plot-parts .hoverlayer")
    assert f"step 0, {odd}: 1.000 ms" in (hover.text_content() or "")


def test_filters_work_by_keyboard(specimens: dict[str, Report], opened: Open) -> None:
    seen = opened(specimens["each-severity"])
    page = seen.page
    everything = seen.states()
    assert set(everything) == {"error", "warning", "info", "passed", "skipped"}
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the checks"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "error"
    page.keyboard.press("Space")
    assert seen.states() == [state for state in everything if state != "error"]
    status = page.locator(".shown")
    assert status.text_content() == f"{len(everything) - 1} of {len(everything)} shown"
    page.keyboard.press("Space")
    for _ in range(5):
        page.keyboard.press("Tab")
    page.keyboard.type("scope strategy")
    assert seen.states() == ["warning"]
    assert page.locator("#skipped-heading").is_hidden()
    page.keyboard.press("Enter")
    assert page.url.endswith("#checks")
    page.keyboard.press("Escape")
    assert seen.states() == everything


def test_a_fix_is_copied_and_an_explanation_opens_by_keyboard(
    specimens: dict[str, Report], opened: Open
) -> None:
    seen = opened(specimens["each-severity"])
    page = seen.page
    button = page.locator(".outcome .copy").first
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".copy").first).to_have_text("Copied")
    fix = specimens["each-severity"].outcomes[4].findings[0].fix
    assert page.evaluate("navigator.clipboard.readText()") == fix
    page.locator(".explanation summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".explanation").first.get_by_text("What it sees").is_visible()
    assert seen.complaints == []


def test_on_paper_everything_is_open_and_light(specimens: dict[str, Report], opened: Open) -> None:
    seen = opened(specimens["plots"], "dark")
    page = seen.page
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator(".filter").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(page.locator(".main-svg").first).to_have_css("background-color", "rgb(255, 255, 255)")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert seen.complaints == []
