"""The HTML report in a real browser: that it works from disk, offline, in light and dark, and by keyboard.

Needs a Chromium (CHROMIUM names it, otherwise it is found by name) and a built cuba (CUBA names it, otherwise it is the one in target/).
UPDATE_SCREENSHOTS=1 takes the screenshots anew; look at them before you keep them.
"""

import io
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import expect, sync_playwright

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[3]
# The guide shows these reports.
SCREENSHOTS = REPOSITORY / "docs" / "guide" / "pictures"

# Each stack has one symbol: 10^5 visible states.
LARGE = "\n".join(
    ["shared 0", "init 0|a0,a0,a0,a0,a0", "bad 0|a9,a9,a9,a9,a9"]
    + [
        f"thread T{thread} {{\n  symbols {' '.join(f'a{i}' for i in range(10))}\n"
        + "\n".join(f"  (0,a{i}) -> (0,a{(i + 1) % 10})" for i in range(10))
        + "\n}"
        for thread in range(5)
    ]
)

# Procedures that each call the next one twice: a trace of some ten thousand steps.
LONG = "\n".join(
    ["shared 0", "init 0|a0", "bad 0|-", "thread T {", "  symbols " + " ".join(f"a{i} b{i}" for i in range(14))]
    + [f"  (0,a{i}) -> (0,a{i + 1} b{i})\n  (0,b{i}) -> (0,a{i + 1})" for i in range(13)]
    + ["  (0,a13) -> (0,-)", "}"]
)

# Name, arguments, the verdict.
REPORTS = {
    "fig1-unsafe": (["verify", "models/paper/fig1.cpds"], "unsafe"),
    "fig1-reach": (["reach", "models/paper/fig1.cpds"], "converged"),
    "lock-safe": (["verify", "models/squeeze/reentrant-lock.cpds"], "safe"),
    "mirror-unknown": (["verify", "models/squeeze/mirror.cpds", "--max-contexts", "12"], "unknown"),
    "fig7-loop": (["reach", "models/paper/fig7.cpds"], "converged"),
    "bluetooth-unsafe": (
        ["verify", "models/table2/bluetooth-1.bp", "--instances", "adder=1,stopper=1"],
        "unsafe",
    ),
    "pay-unsafe": (["verify", "docs/guide/programs/pay.bp"], "unsafe"),
    "stefan8-reach": (["reach", "models/paper/stefan8.cpds"], "converged"),
    "zero-unsafe": (["verify", "{scratch}/zero.cpds"], "unsafe"),
    "long-unsafe": (["verify", "{scratch}/long.cpds"], "unsafe"),
    "large-reach": (["reach", "{scratch}/large.cpds"], "converged"),
    # Thousands of levels, and stacks of the same height.
    "deep-unknown": (["verify", "models/squeeze/mirror.cpds", "--max-contexts", "5000"], "unknown"),
}


def cuba():
    """The command to test."""
    built = [REPOSITORY / "target" / profile / "cuba" for profile in ("debug", "release")]
    found = [os.environ["CUBA"]] if "CUBA" in os.environ else [str(path) for path in built if path.exists()]
    assert found, "there is no cuba: build it with `cargo build`, or name it in CUBA"
    return found[0]


def chromium():
    """The browser."""
    names = ["chromium", "chromium-browser", "google-chrome"]
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert found, "there is no Chromium: install it, or name it in CHROMIUM"
    return found


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Each report, as a file."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "large.cpds").write_text(LARGE)
    (folder / "long.cpds").write_text(LONG)
    (folder / "zero.cpds").write_text("shared 0\ninit 0|a\nbad 0|a\nthread T { symbols a }")
    files = {}
    for name, (arguments, verdict) in REPORTS.items():
        files[name] = folder / f"{name}.html"
        arguments = [argument.format(scratch=folder) for argument in arguments]
        ran = subprocess.run(
            [cuba(), *arguments, "--report", str(files[name])],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.stdout.splitlines()[-1].startswith(verdict + ":"), ran
    return files


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, reports):
    """Opens a report, offline. Errors and requests for other files fail the test."""
    contexts, complaints = [], []

    def opens(name, scheme="light", width=1280, height=900, script=True):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            offline=True,
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        address = reports[name].as_uri()
        page.on("request", lambda request: request.url == address or complaints.append(request.url))
        page.goto(address)
        return page

    yield opens
    for context in contexts:
        context.close()
    assert complaints == []


def where(page):
    return page.locator("#where").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_whole(opened, name, scheme):
    page = opened(name, scheme)
    assert page.locator("h1").inner_text() == REPORTS[name][1]
    for section in ["verdict", "squeeze", "table", "automata", "model"]:
        assert page.locator(f"#{section}").is_visible(), section
        assert page.locator(f"nav a[href='#{section}']").count() == 1
    assert page.locator("svg.chart").is_visible() and page.locator("svg.chart").bounding_box()["width"] > 800
    assert page.locator("#trace").count() == (REPORTS[name][1] == "unsafe")
    assert "accepted by the independent checker" in page.locator("#verdict dl").inner_text() or "unknown" in name


@pytest.mark.parametrize("width", [360, 800, 1280, 1920])
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_exceeds_the_width_of_the_page(opened, name, width):
    page = opened(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", REPORTS)
def test_the_texts_of_the_chart_are_on_the_sheet(opened, name):
    page = opened(name)
    outside = page.evaluate(
        """() => {
            const chart = document.querySelector("svg.chart"), sheet = chart.viewBox.baseVal;
            return [...chart.querySelectorAll("text")].filter((text) => {
                const box = text.getBBox();
                return box.x < 0 || box.y < 0 || box.x + box.width > sheet.width || box.y + box.height > sheet.height;
            }).map((text) => text.textContent);
        }"""
    )
    assert outside == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["bluetooth-unsafe", "lock-safe", "mirror-unknown"])
def test_texts_can_be_read(opened, name, scheme):
    """The contrast of each text with its background is at least 4.5, as WCAG 2 requires; for large or bold texts, 3."""
    page = opened(name, scheme)
    for _ in range(11):
        page.keyboard.press("ArrowRight")
    poor = page.evaluate(
        r"""() => {
            const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
                .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
                .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = (at) => {
                for (; at; at = at.parentElement) {
                    const colour = numbers(getComputedStyle(at).backgroundColor);
                    if (colour.length === 3 || colour[3] === 1) return colour;
                }
                return [255, 255, 255];
            };
            const poor = [];
            for (const at of document.querySelectorAll("main *, header *, footer *")) {
                const own = [...at.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
                if (!own || at.closest("svg") || at.disabled || !at.getClientRects().length) continue;
                const style = getComputedStyle(at);
                const [a, b] = [light(numbers(style.color)), light(behind(at))].sort((x, y) => y - x);
                const enough = parseFloat(style.fontSize) >= 18 || Number(style.fontWeight) >= 600 ? 3 : 4.5;
                if ((a + 0.05) / (b + 0.05) < enough) poor.push(`${at.textContent.slice(0, 30)}: ${style.color}`);
            }
            return poor;
        }"""
    )
    assert poor == []


def test_light_and_dark_differ(opened):
    paper = [opened("fig1-unsafe", scheme).evaluate("getComputedStyle(document.body).backgroundColor") for scheme in ("light", "dark")]
    sheet = [
        opened("fig1-unsafe", scheme).evaluate("getComputedStyle(document.querySelector('.chart .paper')).fill")
        for scheme in ("light", "dark")
    ]
    assert paper == sheet == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]


def test_without_its_script_the_page_still_has_the_answer(opened):
    page = opened("bluetooth-unsafe", script=False)
    assert page.locator("h1").inner_text() == "unsafe"
    assert page.locator("svg.chart").is_visible()
    assert "needs its script" in page.locator("#trace").inner_text()


def test_the_trace_by_keyboard(opened):
    page = opened("fig1-unsafe")
    state = page.locator("#state")
    assert where(page) == "initial state, before 5 steps"
    page.keyboard.press("ArrowRight")
    assert where(page) == "step 1 of 5, context 1"
    assert page.locator("#step").inner_text() == "P1: f1: (0,1) → (1,2)"
    assert state.inner_text().split() == ["shared", "1", "P1", "2", "P2", "4"]
    page.keyboard.press("Shift+ArrowRight")
    assert where(page) == "step 3 of 5, context 2"
    assert state.inner_text().split() == ["shared", "3", "P1", "2", "P2", "4", "6"]
    page.keyboard.press("ArrowLeft")
    assert where(page) == "step 2 of 5, context 2"
    page.keyboard.press("Shift+ArrowLeft")
    assert where(page) == "step 1 of 5, context 1"
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert where(page) == "step 5 of 5, context 4"
    assert "a bad state" in page.locator("#step").inner_text()
    assert page.locator("#next").is_disabled() and page.locator("#previous").is_enabled()
    page.locator("#lanes").focus()
    page.keyboard.press("Home")
    assert where(page) == "initial state, before 5 steps"
    page.keyboard.press("End")
    assert where(page) == "step 5 of 5, context 4"


def test_everything_can_be_reached_by_tab(opened):
    page = opened("bluetooth-unsafe")
    reached = []
    while True:
        page.keyboard.press("Tab")
        at, outline = page.evaluate(
            """() => {
                const at = document.activeElement;
                return at === document.body ? ["", ""] : [at.id || at.textContent.trim(), getComputedStyle(at).outlineStyle];
            }"""
        )
        if at == "":
            break
        assert outline != "none", at
        reached.append(at)
    for wanted in ["Skip to the verdict", "Trace", "next", "last", "position", "lanes", "source", "In numbers", "kind", "shared", "thread", "symbol", "rows"]:
        assert wanted in reached, (wanted, reached)


def test_buttons_slider_and_lanes(opened):
    page = opened("fig1-unsafe")
    assert page.locator("#lanes rect.context").count() == 4
    assert page.locator("#lanes polyline").count() == 2
    page.locator("#last").click()
    assert where(page) == "step 5 of 5, context 4"
    page.locator("#first").click()
    page.locator("#next").click()
    assert where(page) == "step 1 of 5, context 1"
    page.locator("#position").fill("2")
    assert where(page) == "step 2 of 5, context 2"
    box = page.locator("#lanes svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 10, box["y"] + 60)
    assert where(page) == "step 5 of 5, context 4"
    cursor = page.locator("#lanes .cursor")
    assert float(cursor.get_attribute("x1")) > box["width"] - 20


def test_a_long_trace_has_its_end(opened):
    page = opened("long-unsafe")
    assert where(page) == "first state shown, before 5000 steps"
    assert "steps, which are left out here" in page.locator("#step").inner_text()
    page.locator("#last").click()
    assert where(page) == "step 5000 of the last 5000, context 1"
    assert page.locator("#state").inner_text().split() == ["shared", "0", "T", "ε"]
    lanes = page.locator("#lanes")
    assert lanes.evaluate("lanes => lanes.scrollLeft + lanes.clientWidth > lanes.scrollWidth - 100")


def test_the_program_beside_the_trace(opened):
    page = opened("bluetooth-unsafe")
    marked = lambda: [text.split("▸")[1:] for text in page.locator("#source .marks").all_inner_texts()]
    at = lambda thread: [i + 1 for i, names in enumerate(marked()) if thread in names]
    assert (at("adder"), at("stopper"), at("counter#2")) == ([37], [44], [])
    assert page.locator("#source .taken").count() == 0
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert page.locator("#step").inner_text().splitlines() == ["adder, line 26: if (stoppingFlag)", "no"]
    assert page.locator("#source .taken .number").inner_text() == "26"
    assert (at("adder"), at("stopper")) == ([27], [44])
    page.locator("#last").click()
    assert page.locator("#step").inner_text().splitlines() == ["adder, line 39: assert(!stopped)", "fails"]
    taken = page.locator("#source .taken")
    assert taken.locator(".number").inner_text() == "39"
    box, line = page.locator("#source").bounding_box(), taken.bounding_box()
    assert box["y"] <= line["y"] and line["y"] + line["height"] <= box["y"] + box["height"]
    # The step before: its changes, of the thread's variables and of shared ones.
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#step").inner_text().splitlines() == ["adder, line 38: ok := io_increment()", "ok = 1"]
    assert page.locator("#state .changed").all_inner_texts() == ["ok = 1"]
    assert "stopped = 1" in page.locator("#state tr").first.inner_text()


def test_locks_sections_and_new_threads(opened):
    page = opened("bluetooth-unsafe")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    rows = page.locator("#state tr")
    assert "counter waits to start" in rows.first.inner_text()
    assert "in atomic" in rows.nth(1).inner_text()
    assert page.locator("#state .changed").all_inner_texts() == ["counter waits to start"]
    assert page.locator("#lanes rect.atomic title").first.text_content() == "adder in atomic"
    page = opened("pay-unsafe")
    assert page.locator("#lanes rect.holds title").all_text_contents() == ["m held by pay", "m held by cancel"]
    page.locator("#last").click()
    rows = page.locator("#state tr")
    assert "m held by pay" in rows.first.inner_text() and "holds m" in rows.nth(1).inner_text()


def test_the_table(opened):
    page = opened("fig1-reach")
    count, rows = page.locator("#count"), page.locator("#rows tbody tr:not(.space)")
    assert count.inner_text() == "8 of 8"
    assert rows.all_inner_texts()[0].split() == ["0", "0", "1", "4"]
    page.locator("#level").fill("2")
    assert [row.split() for row in rows.all_inner_texts()] == [["2", "1", "2", "ε"], ["2", "2", "2", "5"], ["2", "3", "2", "4"]]
    page.locator("#symbol").fill("ε")
    assert count.inner_text() == "1 of 8"
    page.get_by_role("button", name="Show all").click()
    expect(count).to_have_text("8 of 8")
    page.locator("#shared").fill("0")
    assert {row.split()[1] for row in rows.all_inner_texts()} == {"0"}
    page.locator("#symbol").fill("1")
    page.locator("#thread").select_option("P2")
    assert count.inner_text() == "0 of 8, as P2 sees them"
    page.locator("#symbol").fill("")
    assert [row.split() for row in rows.all_inner_texts()] == [["0", "0", "4"], ["1", "0", "ε"], ["4", "0", "6"]]
    page.locator("#symbol").fill("1")
    page.locator("#thread").select_option("any")
    assert rows.count() == page.evaluate("[...document.querySelectorAll('#rows tbody tr')].filter((row) => row.cells[1].textContent === '0').length") > 0
    page.locator("#kind").select_option("states")
    page.locator("#shared").fill("")
    page.locator("#symbol").fill("")
    assert count.inner_text() == "14 of 14"
    assert "4 6 6" in "\n".join(rows.all_inner_texts())


def test_a_large_table_has_only_the_visible_rows(opened):
    page = opened("large-reach")
    count, box = page.locator("#count"), page.locator("#rows")
    assert count.inner_text() == "100,000 of 100,000"
    seen = lambda: page.evaluate("document.querySelectorAll('#rows tbody tr').length")
    assert seen() < 100
    assert page.evaluate("document.getElementById('rows').scrollHeight") >= 100_000 * 24
    box.scroll_into_view_if_needed()
    for place in (1_200_000, 2_400_000):
        box.evaluate(f"box => {{ box.scrollTop = {place}; }}")
        page.wait_for_timeout(50)
        assert seen() < 100
        # The row at the scroll position of the box.
        text = page.evaluate(
            """() => {
                const box = document.getElementById("rows").getBoundingClientRect();
                return document.elementFromPoint(box.x + 60, box.y + 80).closest("tr").textContent;
            }"""
        )
        assert text.count("a") == 5
    page.locator("#thread").select_option("T3")
    page.locator("#symbol").fill("a7")
    assert count.inner_text() == "1 of 100,000, as T3 sees them"
    page.locator("#thread").select_option("any")
    # All but 9^5 of the states have a7 on top of some stack.
    assert count.inner_text() == "40,951 of 100,000"
    page.locator("#symbol").fill("")
    page.locator("#level").fill("1")
    assert count.inner_text() == "45 of 100,000"


def test_automata_and_loop(opened):
    page = opened("fig7-loop")
    pictures = page.locator("#automata svg.picture")
    assert pictures.count() == 2
    assert page.locator("#automata .edge.marked").count() == 2
    # Arrow heads are those of the picture itself.
    heads = page.evaluate(
        """() => [...document.querySelectorAll("#automata path.edge")].every((edge) => {
            const id = edge.getAttribute("marker-end").slice(5, -1), found = document.querySelectorAll(`[id="${id}"]`);
            return found.length === 1 && found[0].closest("svg") === edge.closest("svg");
        })"""
    )
    assert heads
    page.get_by_text("The loop, step by step").click()
    assert "⟨q1|σ1⟩ →⁺ ⟨q1|σ1 σ0⟩" in page.locator("#automata pre").inner_text()


def test_a_deep_table_is_cut(opened):
    page = opened("deep-unknown")
    assert page.locator("#count").inner_text() == "8 of 8"
    page.locator("#kind").select_option("states")
    text = page.locator("#count").inner_text()
    assert "only, since there are" in text
    last = int(text.split("k < ")[1].split()[0]) - 1
    page.locator("#level").fill(str(last))
    assert 0 < page.locator("#rows tbody tr:not(.space)").count() < 10


def test_open_states(opened):
    text = opened("mirror-unknown").locator("#squeeze").inner_text()
    assert "2 visible states neither reached nor ruled out, 2 of them bad" in text


# Name, scheme, and the keys to press first.
LOOKS = [
    ("fig1-unsafe", "light", ["ArrowRight"] * 3),
    ("fig1-reach", "light", []),
    ("lock-safe", "dark", []),
    ("mirror-unknown", "light", []),
    ("fig7-loop", "dark", []),
    ("bluetooth-unsafe", "light", ["ArrowRight"] * 12),
    ("bluetooth-unsafe", "dark", ["ArrowRight"] * 33),
    ("stefan8-reach", "dark", []),
]


@pytest.mark.parametrize(("name", "scheme", "keys"), LOOKS)
def test_the_report_looks_like_the_screenshot(opened, name, scheme, keys):
    """Compares with a reviewed screenshot, with some tolerance: other fonts may be a little wider."""
    page = opened(name, scheme, height=1500)
    for key in keys:
        page.keyboard.press(key)
    for at in page.locator(".varies").all():
        at.evaluate("at => { at.textContent = '…'; }")
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize((800, 938))
    kept = SCREENSHOTS / f"report-{name}-{scheme}.png"
    if os.environ.get("UPDATE_SCREENSHOTS"):
        image.save(kept, optimize=True)
    coarse = lambda picture: picture.convert("RGB").resize((64, 75), Image.Resampling.BOX)
    difference = ImageStat.Stat(ImageChops.difference(coarse(image), coarse(Image.open(kept)))).mean
    assert max(difference) < 4, difference
