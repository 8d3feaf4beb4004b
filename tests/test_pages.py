"""Pages for a browser: all of them text, small, and as they are meant in a real browser."""

from __future__ import annotations

import http.server
import json
import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, leave_out

HOSTILE = [
    "<script>document.title='pwned'</script>",
    '"><img src=x onerror="document.title=1">',
    "</style></title><script>document.title=2</script>",
    "javascript:document.title=3",
    "a&amp;b<c>\"d'e",
    "\u202egnp.exe",
    r"$\frac{1}{2}$ {{7*7}} ${7*7}",
    "x" * 255,
    "\x00\x1b[31m",
    "\N{RABBIT FACE}" * 60,
]
TIMES = "processing_ms\n1\n2\n"
SAMPLES = ["samples/timings.csv", *(f"samples/broker/{name}.json" for name in (
    "channels", "connections", "consumers", "nodes", "overview", "queues"
))]  # fmt: skip


def queue_rows(names: list[str]) -> str:
    rows = [
        {"name": name, "vhost": "/", "type": "classic", "messages_ready": 10 + place,
         "messages_unacknowledged": 5, "messages": 15 + place, "consumers": 1}
        for place, name in enumerate(names)
    ]  # fmt: skip
    return json.dumps(rows)


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


class Texts(HTMLParser):
    """Elements with their attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.usefixtures("samples")
def test_a_page_says_what_the_report_says(cli, tmp_path):
    page = tmp_path / "page.html"
    shown = cli("advise", *SAMPLES, "--html", page, "--details", "--for", "pika")
    found = Texts(page.read_text())
    for queue in ("payments", "thumbnails", "invoices"):
        assert queue in found.text
    words = re.findall(r"PA\d{3} [a-z-]+", shown.out)
    assert len(set(words)) > 4
    assert [word for word in set(words) if word not in found.text] == []
    assert "= 19, busy 97 % with these processing times" in found.text
    assert "basic_qos(prefetch_count=20)" in found.text
    pictures = [attributes for tag, attributes in found.elements if tag == "svg"]
    assert len([one for one in pictures if one.get("role") == "img"]) >= 10
    for mark in ("advised 20", "rule 19", "now 1"):
        assert mark in found.text


def test_a_page_of_a_thousand_queues_is_small_and_names_stay_text(cli, write, tmp_path):
    page = tmp_path / "page.html"
    file = write("queues.json", queue_rows([*HOSTILE, *(f"queue {n}" for n in range(990))]))
    cli("advise", file, "--html", page)
    text = page.read_text()
    assert len(text) < 5_000_000
    found = Texts(text)
    tags = {tag for tag, _ in found.elements}
    assert tags.isdisjoint({"script", "img", "iframe", "object", "embed", "form"})
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    links = {a["href"] for tag, a in found.elements if tag == "a"}
    assert all(link.startswith(("#q", "https://www.rabbitmq.com/")) for link in links)
    assert "document.title=3" in found.text
    assert "\u202e" not in text
    assert "\x00" not in text
    assert sum(tag == "section" for tag, _ in found.elements) == 30
    assert text.count("<tr") >= 1_000
    assert "The other 970 queues" in found.text


def test_a_simulation_has_a_page_with_its_timelines(cli, tmp_path):
    page = tmp_path / "page.html"
    cli("simulate", "--tasks", "10,1,10,1,10,1,10,1", "--consumers", "2", "--html", page)
    found = Texts(page.read_text())
    assert "prefetch without limit: done after 40 s" in found.text
    assert "prefetch 1: done after 22 s" in found.text
    # of a width of 332 for 40 s: A works for 22 s, without a pause
    busy = [a for tag, a in found.elements if tag == "rect" and a.get("class") == "busy"]
    assert len(busy) == 16
    widths = [float(str(one["width"])) for one in busy]
    assert sum(widths[:4]) == pytest.approx(332, abs=2)
    assert sum(widths[8:12]) == pytest.approx(332 * 22 / 40, abs=2)


@pytest.mark.parametrize("command", ["advise", "simulate"])
@pytest.mark.usefixtures("samples")
def test_a_page_replaces_no_input_and_needs_a_name(cli, write, command):
    file = write("t.csv", TIMES)
    arguments = [file] if command == "advise" else ["--timings", file]
    run = cli(command, *arguments, "--html", "-")
    assert (run.code, run.err.strip()) == (
        2,
        "prefetch-advisor: error: --html takes the name of a file",
    )
    run = cli(command, *arguments, "--html", file)
    assert run.code == 2
    assert "--html" in run.err
    assert "is one of the inputs" in run.err
    assert file.read_text() == TIMES


# in a browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A headless Chromium, driven."""
    driver = shutil.which("chromedriver")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if driver is None or program is None:
        leave_out(request, "browser", "Chromium or its chromedriver is not installed")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield chromium
    finally:
        chromium.quit()


class Served:
    """A directory on a port, and what was asked of it."""

    def __init__(self, directory: Path) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                asked.append(self.path)

        handler = partial(Handler, directory=str(directory))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{name}"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path)
    yield found
    found.server.shutdown()
    found.server.server_close()


def look(browser: Any, url: str, width: int, scheme: str) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(url)


CONTRAST = """
const light = c => { const [r, g, b] = c.match(/\\d+/g).map(v => v / 255).map(
    v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = element => { for (let e = element; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
const contrast = element => { const style = getComputedStyle(element);
  const ink = element instanceof SVGElement ? style.fill : style.color;
  const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05); };
return Math.min(...[...document.querySelectorAll("p, td, th, dt, dd, a, span, h1, h2, text")]
  .filter(e => e.textContent.trim()).map(contrast));
"""


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_in_a_browser(cli, write, browser, served, tmp_path, monkeypatch, width, scheme):
    monkeypatch.chdir(ROOT)
    cli("advise", *SAMPLES, "--html", tmp_path / "advice.html", "--for", "celery")
    hostile = write("queues.json", queue_rows([*HOSTILE, *(f"queue {n}" for n in range(40))]))
    cli("advise", hostile, "--html", tmp_path / "hostile.html")
    cli("simulate", "--processing-time", "1ms", "--rtt", "5ms", "--prefetch", "1..12",
        "--html", tmp_path / "simulation.html")  # fmt: skip
    for name in ("advice.html", "hostile.html", "simulation.html"):
        look(browser, served.url(name), width, scheme)
        assert browser.title.startswith("prefetch-advisor: ")
        assert browser.get_log("browser") == []
        # nothing is wider than the window, so nobody has to scroll sideways
        wide, window = browser.execute_script(
            "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"
        )
        assert wide <= window
        # WCAG AA asks for 4.5 of text of this size
        assert browser.execute_script(CONTRAST) >= 4.5
        ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    assert served.asked == ["/advice.html", "/hostile.html", "/simulation.html"]


@pytest.mark.browser
def test_names_of_queues_are_inert_in_a_browser(cli, write, browser, served, tmp_path):
    cli("advise", write("queues.json", queue_rows(HOSTILE)), "--html", tmp_path / "page.html")
    look(browser, served.url("page.html"), 1280, "light")
    assert browser.title == "prefetch-advisor: advice"
    shown = browser.execute_script(
        "return [...document.querySelectorAll('section h2')].map(e => e.textContent)"
    )
    assert HOSTILE[0] in shown
    assert HOSTILE[6].replace("\\", r"\\") in shown
    first = browser.execute_script("return document.querySelector('.queues a').hash")
    assert browser.execute_script(f"return document.querySelector('{first}').tagName") == "H2"
