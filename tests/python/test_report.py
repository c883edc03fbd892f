"""The HTML report, in headless Chromium: what it shows is what the profile
says, and it needs nothing but its own file. Profiles come from report_kit,
whose numbers are arithmetic of its own."""

import json
import os
import re

import pytest

import cli_kit
import report_kit
import trnemu
from browser_kit import Browser, find_browser
from trnemu import _trnemu

HOSTILE = ("</script><img src=x onerror=\"document.body.innerHTML='owned'\">"
           "<!--<script>&amp;'\"@PROFILE@@SCRIPT@ \u2028 \u00e9")


@pytest.fixture(scope="module")
def browser():
    path = find_browser()
    if path is None:
        reason = "no Chromium here (scripts/packages_test.txt)"
        if os.environ.get("TRNEMU_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    b = Browser(path)
    yield b
    b.close()


@pytest.fixture
def show(browser, tmp_path):
    """show(profile, hash, ...) opens its report; at the end of the test the
    page must have been silent, and asked for nothing but its file."""
    pages = []

    def open_report(profile, where="", **options):
        path = tmp_path / f"report{len(pages)}.html"
        path.write_text(_trnemu.render_report(json.dumps(profile)))
        page = browser.open(path.as_uri() + where, **options)
        pages.append((page, path.as_uri()))
        page.wait_for("document.documentElement.dataset.ready === 'true'")
        page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
        return page

    yield open_report
    for page, uri in pages:
        assert page.problems() == []
        asked = {r.split("#")[0] for r in page.requests()}
        # The icon is in the page as well.
        assert {r for r in asked if not r.startswith("data:")} == {uri}
        page.close()


def texts(page, selector):
    return page.evaluate(f"[...document.querySelectorAll({selector!r})]"
                         ".map(e => e.textContent)")


def card(page, name):
    """(raw value, text) of a headline number."""
    return page.evaluate(
        "(() => { for (const c of document.querySelectorAll('.card')) {"
        f" if (c.querySelector('dt').textContent === {name!r}) {{"
        " const d = c.querySelector('dd');"
        " return [d.dataset.value, d.textContent]; } } })()")


def table(page, caption):
    """Rows of the table: each cell its raw value, or its text."""
    return page.evaluate(
        "(() => { for (const t of document.querySelectorAll('table')) {"
        f" if (t.caption.textContent !== {caption!r}) continue;"
        " return [...t.tBodies[0].rows].map(r => [...r.cells].map("
        " c => 'value' in c.dataset ? Number(c.dataset.value)"
        " : c.textContent)); } })()")


def canvas(page):
    return page.evaluate("({...document.getElementById('tracks').dataset})")


def spot(page, track, time):
    """Where on the page a track is at a moment, scrolled into view."""
    page.evaluate("document.getElementById('tracks').scrollIntoView("
                  "{block: 'center'})")
    box = page.evaluate("document.getElementById('tracks')"
                        ".getBoundingClientRect().toJSON()")
    data = canvas(page)
    left, start = float(data["left"]), float(data["from"])
    scale = (box["width"] - left) / (float(data["to"]) - start)
    y = next(y for core, label, y in json.loads(data["tracks"])
             if (core, label) == track)
    return box["x"] + left + (time - start) * scale, box["y"] + y


def visible(profile, start, end):
    """Instructions and DMA parts whose slice meets the window."""
    n, d = profile["instructions"], profile["dma"]
    return sum(e > start and s < end
               for s, e in [*zip(n["start"], n["issue_end"]),
                            *zip(d["start"], d["end"])])


def facts(page, where="#details"):
    names = texts(page, f"{where} .facts dt")
    return dict(zip(names, texts(page, f"{where} .facts dd")))


def number(text):
    """"27 027.383 ns" as a float."""
    return float(text.replace("\u202f", "").removesuffix(" ns"))


def test_headline_numbers_are_those_of_the_profile(show):
    profile = report_kit.make_profile()
    page = show(profile)
    metrics = {m["name"]: m["value"] for m in profile["summary"]}
    assert card(page, "Target") == ["trn2", "trn2"]
    raw, text = card(page, "Time")
    assert float(raw) == profile["time_ns"]
    assert text == f"{profile['time_ns'] / 1000:.2f} \u00b5s"
    for name in ("mfu", "mbu"):
        raw, text = card(page, name.upper())
        value = metrics[f"{name}_estimated_percent"]
        assert float(raw) == value
        assert text == f"{100 * value:.1f}\u202f%"
    assert page.evaluate("document.title") == "tiled_matmul: trnemu profile"


def test_bound_by_names_the_largest_part_of_the_critical_path(show):
    profile = report_kit.make_profile()
    profile["critical_path"] = [
        {"kind": "instruction", "row": 1, "from": 0, "to": 10,
         "cause": "tensor", "text": "a"},
        {"kind": "dma", "row": 0, "from": 10, "to": 60, "cause": "dma load",
         "text": "b"},
        {"kind": "wait", "row": 1, "from": 60, "to": 100, "cause": "hand-off",
         "text": "c"}]
    raw, text = card(show(profile), "Bound by")
    assert (float(raw), text) == (0.5, "DMA loads")
    # What the profile has summed up itself comes first.
    profile["critical_summary"] = [
        {"cause": "dma load", "count": 1, "total_ns": 30.0, "share": 0.3},
        {"cause": "tensor", "count": 1, "total_ns": 70.0, "share": 0.7}]
    raw, text = card(show(profile), "Bound by")
    assert (float(raw), text) == (0.7, "tensor engine")


def test_what_the_hardware_differs_in_is_a_card(show):
    profile = report_kit.make_profile()
    assert card(show(profile), "Hardware") is None
    profile["hardware"]["changes"] = [
        {"constant": "memory.hbm_bandwidth", "stock": 3000, "value": 300.5,
         "unit": "B/ns"},
        {"constant": "dma.new", "stock": None, "value": 2, "unit": "ns",
         "no_effect": "nothing reads it"}]
    page = show(profile)
    assert card(page, "Hardware") == ["2", "2 constants differ"]
    notes = " ".join(texts(page, ".card .note"))
    assert "memory.hbm_bandwidth 3000 \u2192 300.5 B/ns" in notes
    assert "dma.new nothing \u2192 2 ns (has no effect: nothing reads it)" in (
        notes)


def test_tables_show_the_rows_of_the_profile(show):
    profile = report_kit.make_profile()
    page = show(profile)
    engines = {row[0]: row[1:] for row in table(page, "Engines")}
    assert len(engines) == len(profile["engines"])
    for e in profile["engines"]:
        assert engines[e["engine"]] == [
            e["instructions"], e["busy_ns"], e["active_percent"] / 100,
            e["waiting_ns"]]
    operations = {row[0]: row[1:] for row in table(page, "Operations")}
    for o in profile["by_operation"]:
        assert operations[o["operation"]] == [o["count"], o["busy_ns"],
                                              o["share"]]
    n = profile["instructions"]
    lines = {row[0]: row[1] for row in table(page, "Source lines")}
    for i, source in enumerate(profile["sources"]):
        assert lines[source] == n["source"].count(i)


def test_a_click_on_a_heading_sorts(show):
    page = show(report_kit.make_profile())
    button = ("[...document.querySelectorAll('#tables table')].find(t => "
              "t.caption.textContent === 'Opcodes').querySelectorAll("
              "'th button')[1]")
    counts = []
    for order in ("descending", "ascending"):
        page.evaluate(f"{button}.click()")
        assert page.evaluate(
            f"{button}.parentElement.getAttribute('aria-sort')") == order
        counts.append([row[1] for row in table(page, "Opcodes")])
    assert counts[0] == sorted(counts[0], reverse=True)
    assert counts[1] == sorted(counts[1])


def test_the_roofline_has_the_point_and_the_roofs(show):
    profile = report_kit.make_profile()
    page = show(profile)
    point = page.evaluate(
        "({...document.querySelector('circle.kernel').dataset})")
    roofline = profile["roofline"]
    assert float(point["intensity"]) == roofline["intensity"]
    assert float(point["achieved"]) == roofline["achieved_flops_per_ns"]
    labels = " ".join(texts(page, ".roof-label"))
    for roof in ("358 GB/s", "91.8 TFLOPS bfloat16, float16",
                 "138 TFLOPS float8_e4m3", "22.9 TFLOPS float32"):
        assert roof in labels
    # The roof above the point: min(peak, intensity * bandwidth).
    allowed = min(roofline["peak_flops_per_ns"], roofline["intensity"] * 358)
    share = 100 * roofline["achieved_flops_per_ns"] / allowed
    assert f"{share:.1f}\u202f%" in texts(page, "#roofline-text")[0]


def test_the_timeline_draws_what_is_in_its_window(show):
    profile = report_kit.make_profile()
    page = show(profile)
    data = canvas(page)
    everything = len(profile["instructions"]["core"]) + len(
        profile["dma"]["core"])
    assert int(data["visible"]) == everything
    assert 0 < int(data["slices"]) <= everything
    assert page.evaluate(
        "(() => { const c = document.getElementById('tracks');"
        " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height)"
        ".data; return d.some(v => v > 0); })()")
    zoomed = show(profile, "#from=20000&to=32000")
    data = canvas(zoomed)
    assert (float(data["from"]), float(data["to"])) == (20000, 32000)
    assert int(data["visible"]) == visible(profile, 20000, 32000)
    assert int(data["slices"]) > 0


@pytest.mark.parametrize("where", [
    "#from=abc&to=5", "#from=9&to=2", "#pin=i99999999", "#pin=x", "#%E0%A4%A",
    "#q=%ZZ", "#from=-1e300&to=1e300"])
def test_a_meaningless_address_shows_the_whole_run(show, where):
    profile = report_kit.make_profile(tiles=2)
    data = canvas(show(profile, where))
    assert float(data["from"]) == 0
    assert float(data["to"]) == pytest.approx(profile["time_ns"])


def test_keys_wheel_and_drag_move_the_window(show):
    profile = report_kit.make_profile()
    page = show(profile)
    total = profile["time_ns"]
    page.evaluate("document.getElementById('tracks').focus()")
    page.key("+")
    data = canvas(page)
    assert float(data["from"]) == pytest.approx(total / 4)
    assert float(data["to"]) == pytest.approx(total * 3 / 4)
    page.key("ArrowLeft")
    assert float(canvas(page)["from"]) == pytest.approx(total / 8)
    page.key("0")
    assert float(canvas(page)["to"]) == pytest.approx(total)
    # The wheel keeps the moment under the pointer where it is.
    middle = total / 3
    x, y = spot(page, (0, "tensor"), middle)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    data = canvas(page)
    start, end = float(data["from"]), float(data["to"])
    assert end - start < total * 0.7
    assert (middle - start) / (end - start) == pytest.approx(1 / 3, abs=0.01)
    # What is dragged stays under the pointer.
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 100, y, button="left", buttons=0)
    assert float(canvas(page)["from"]) > start
    assert float(canvas(page)["to"]) - float(canvas(page)["from"]) == (
        pytest.approx(end - start))
    # The address says where: another page shows the same.
    where = page.evaluate("location.hash")
    again = canvas(show(profile, where))
    assert float(again["from"]) == pytest.approx(float(canvas(page)["from"]))


def row_that_waits(profile):
    n = profile["instructions"]
    return next(i for i in range(100, len(n["core"]))
                if n["producer"][i] >= 0 and n["engine"][i] == "scalar")


def test_a_click_pins_an_instruction_and_p_follows_its_producer(show):
    profile = report_kit.make_profile()
    n = profile["instructions"]
    row = row_that_waits(profile)
    page = show(profile, f"#from={n['start'][row] - 3000}"
                         f"&to={n['start'][row] + 3000}")
    middle = (n["start"][row] + n["issue_end"][row]) / 2
    x, y = spot(page, (0, "scalar"), middle)
    page.mouse("mouseMoved", x, y)
    tip = facts(page, "#tooltip")
    assert tip["source"] == profile["sources"][n["source"][row]]
    assert tip["signalled by"] == "tensor MultiplyMoving"
    page.click(x, y)
    assert texts(page, "#details h3") == [f"Instruction {row}"]
    assert texts(page, "#details .code") == [profile["texts"][n["text"][row]]]
    shown = facts(page)
    assert number(shown["start"]) == pytest.approx(n["start"][row], abs=2e-3)
    assert number(shown["busy"]) == pytest.approx(580.25)
    assert number(shown["result after"]) == pytest.approx(640.125)
    assert number(shown["waited"]) == pytest.approx(
        n["start"][row] - n["ready"][row], abs=2e-3)
    assert shown["for"] == "done"
    page.evaluate("document.getElementById('tracks').focus()")
    page.key("p")
    producer = n["producer"][row]
    assert texts(page, "#details h3") == [f"Instruction {producer}"]
    assert "scalar Activate" in facts(page)["waited for by"]
    page.key("]")
    following = n["engine"].index("tensor", producer + 1)
    assert texts(page, "#details h3") == [f"Instruction {following}"]
    page.key("Escape")
    assert texts(page, "#details h3") == []
    # Without the pointer: the first one of the window.
    page.key("]")
    assert n["engine"][int(texts(page, "#details h3")[0].split()[1])] == (
        "tensor")


def test_a_load_is_the_producer_of_the_matmul_that_waits_for_it(show):
    profile = report_kit.make_profile()
    n, d = profile["instructions"], profile["dma"]
    row = next(i for i, part in enumerate(n["producer_dma"]) if part > 200)
    part = n["producer_dma"][row]
    page = show(profile, f"#pin=i{row}")
    page.evaluate("[...document.querySelectorAll('#details button')].find("
                  "b => b.textContent === 'Follow the producer').click()")
    page.frame()
    assert texts(page, "#details h3") == [f"DMA part {part}"]
    shown = facts(page)
    assert shown["direction"] == "load"
    assert shown["bytes"] == "8 KiB"
    assert number(shown["takes"]) == pytest.approx(512)  # 8192 / 16 a ns
    assert number(shown["seen done"]) == pytest.approx(d["notify"][part],
                                                       abs=2e-3)
    assert shown["triggered by"] == "sync DmaCopy"


def test_rows_come_back_from_packing_as_they_were(show):
    profile = report_kit.make_profile(tiles=40)
    n = profile["instructions"]
    page = show(profile)
    for row in range(0, len(n["core"]), 37):
        page.evaluate(f"location.hash = '#pin=i{row}'")
        page.wait_for("document.querySelector('#details h3') && "
                      "document.querySelector('#details h3').textContent === "
                      f"'Instruction {row}'")
        assert texts(page, "#details .code") == [
            profile["texts"][n["text"][row]]]
        shown = facts(page)
        assert number(shown["start"]) == pytest.approx(n["start"][row],
                                                       abs=2e-3)
        assert shown["source"] == profile["sources"][n["source"][row]]
        assert shown["engine"] == f"{n['engine'][row]}, core 0"
        assert ("waited" in shown) == (n["start"][row] > n["ready"][row])


def test_an_address_set_while_a_drawing_is_due_is_kept(show):
    page = show(report_kit.make_profile(), "#pin=i1")
    # The same frame: the address changes, the view is drawn, and only then
    # comes the event of the change.
    page.evaluate("requestAnimationFrame("
                  "() => { location.hash = '#pin=i2'; });"
                  "document.getElementById('zoom-in').click(); 0")
    page.wait_for("document.querySelector('#details h3').textContent === "
                  "'Instruction 2'")


def test_search_counts_what_matches(show):
    profile = report_kit.make_profile()
    n = profile["instructions"]
    page = show(profile, "#q=moving%3Dx1")
    expected = sum("moving=x1" in profile["texts"][t] for t in n["text"])
    assert expected > 4
    assert texts(page, "#search-count") == [f"{expected} found"]
    page.evaluate("document.getElementById('search-next').click()")
    page.frame()
    assert texts(page, "#search-count") == [f"1 of {expected}"]
    assert "moving=x1" in texts(page, "#details .code")[0]


def test_memory_shows_every_tile_and_names_it(show):
    profile = report_kit.make_profile()
    page = show(profile)
    tiles = page.evaluate("[...document.querySelectorAll('.memory canvas')]"
                          ".map(c => Number(c.dataset.tiles))")
    assert tiles == [12, 12]
    notes = texts(page, ".memory .note")
    # Four tiles of 1 KiB live at once; two of 2 KiB.
    assert "at most 4 KiB of a partition's 192 KiB" in notes[0]
    assert "at most 4 KiB of a partition's 16 KiB" in notes[1]
    page.evaluate("document.querySelector('.memory canvas').scrollIntoView("
                  "{block: 'center'})")
    box = page.evaluate("document.querySelector('.memory canvas')"
                        ".getBoundingClientRect().toJSON()")
    # x0: from the beginning, at address 0.
    page.mouse("mouseMoved", box["x"] + float(canvas(page)["left"]) + 5,
               box["y"] + 220 - 20 - 5)
    assert texts(page, "#tooltip .code") == ["x0"]
    assert "128 \u00d7 512 bfloat16" in facts(page, "#tooltip")["shape"]


def test_stalls_and_recommendations_are_shown(show):
    profile = report_kit.make_profile()
    page = show(profile)
    stalls = profile["stalls"]
    causes = {(r[0], r[1]): r[2:4] for r in table(page, "Stalls by cause")}
    tensor = [s for s in stalls if s["engine"] == "tensor"]
    count, total = causes["tensor", "DMA loads"]
    assert count == len(tensor)
    assert total == pytest.approx(sum(s["to"] - s["from"] for s in tensor))
    shown = table(page, "Single stalls")[0]
    assert shown[2] == pytest.approx(max(s["to"] - s["from"] for s in stalls))
    of_row = next(s for s in stalls if abs(s["from"] - shown[1]) < 2e-3)
    n = profile["instructions"]
    assert shown[4] == profile["texts"][n["text"][of_row["producer"]]]
    shown = texts(page, "#recommendations li")
    assert len(shown) == 1
    assert f"Evidence: {len(stalls)} stalls of more than 100 ns" in shown[0]
    assert "(25.0\u202f%)" in shown[0]


def test_names_are_text_whatever_they_hold(show):
    profile = report_kit.make_profile(tiles=4, name=HOSTILE, target=HOSTILE)
    for names in ("operations", "sources", "texts", "semaphore_names"):
        profile[names] = [f"{HOSTILE} {i}" for i, _ in
                          enumerate(profile[names])]
    for rows, key in (("memory", "name"), ("stalls", "cause"),
                      ("critical_path", "text"), ("summary", "meaning"),
                      ("recommendations", "title"),
                      ("recommendations", "evidence")):
        for row in profile[rows]:
            row[key] = HOSTILE
    page = show(profile, "#pin=i0")
    assert texts(page, "h1") == [HOSTILE]
    assert texts(page, "#details .code") == [f"{HOSTILE} 0"]
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert canvas(page)["visible"] == "176"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 800])
def test_the_page_fits_its_window(show, width, dark):
    profile = report_kit.make_profile(
        cores=2, name="a_kernel_with_a_name_that_goes_on_" * 8)
    page = show(profile, "#pin=i5", width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth <= "
                         "document.documentElement.clientWidth")
    background = page.evaluate("getComputedStyle(document.body)"
                               ".backgroundColor")
    level = sum(map(int, re.findall(r"\d+", background)))
    assert (level < 150) == dark


def test_what_can_be_used_has_a_name(show):
    page = show(report_kit.make_profile(), "#pin=i5")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    found = 0
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in (
                "button", "checkbox", "combobox", "searchbox", "link",
                "application", "image", "img", "table"):
            continue
        found += 1
        assert node.get("name", {}).get("value"), node
    assert found > 30


def colours(scheme):
    path = os.path.join(os.path.dirname(__file__),
                        "../../frontend/report/style.css")
    with open(path) as file:
        blocks = re.findall(r":root \{(.*?)\}", file.read(), re.S)
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[scheme]))


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4
              for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_stands_out_from_what_is_behind_it(scheme):
    """WCAG 2.1: 4.5 for text."""
    c = colours(scheme)
    for name in ("fg", "muted", "accent", "critical"):
        for behind in ("bg", "panel"):
            assert contrast(c[name], c[behind]) >= 4.5, (name, behind)
    for i in range(8):
        assert contrast(c["on-colour"], c[f"c{i}"]) >= 4.5, i


def test_a_large_program_is_merged_and_its_file_moderate(show, tmp_path):
    profile = report_kit.make_profile(tiles=2000)
    rows = len(profile["instructions"]["core"]) + len(profile["dma"]["core"])
    assert rows == 88000
    page = show(profile)
    data = canvas(page)
    assert int(data["visible"]) == rows
    # No more than the pixels of the 20 tracks, whatever the rows.
    assert int(data["slices"]) <= 20 * 1280
    size = (tmp_path / "report0.html").stat().st_size
    assert size < 40 * rows
    assert size < len(json.dumps(profile)) / 4


def a_program():
    b = trnemu.ProgramBuilder(target="trn2", name="exp")
    x = b.input("x", (128, 512), "float32")
    y = b.output("y", (128, 512), "float32")
    t = b.sbuf((128, 512), "float32", name="t")
    b.dma_copy(dst=t, src=x)
    b.activation(dst=t, op="exp", data=t)
    b.dma_copy(dst=y, src=t)
    return b.build()


def opened(browser, path):
    page = browser.open(path.as_uri())
    assert page.problems() == []
    return page


def test_profile_html_writes_the_report_of_the_run(browser, tmp_path):
    a_program().save(str(tmp_path / "exp.trn"))
    result = cli_kit.trnemu(
        "profile", tmp_path / "exp.trn", "--values", "off",
        "--html", tmp_path / "r.html", f"--json={tmp_path / 'r.json'}")
    assert result.returncode == 0, result.stderr
    assert str(tmp_path / "r.html") in result.stdout
    profile = json.loads((tmp_path / "r.json").read_text())
    page = opened(browser, tmp_path / "r.html")
    assert texts(page, "h1") == ["exp"]
    assert float(card(page, "Time")[0]) == profile["time_ns"]
    data = canvas(page)
    assert int(data["visible"]) == visible(profile, 0, profile["time_ns"])
    engines = {row[0]: row[1] for row in table(page, "Engines")}
    for e in profile["engines"]:
        assert engines[e["engine"]] == e["instructions"]
    assert page.evaluate("[...document.querySelectorAll('.memory canvas')]"
                         ".map(c => Number(c.dataset.tiles))") == [1]
    page.close()


def test_save_html_writes_the_same_page(browser, tmp_path):
    report = trnemu.profile(a_program())
    report.save_html(str(tmp_path / "r.html"))
    page = opened(browser, tmp_path / "r.html")
    assert float(card(page, "Time")[0]) == report.time_ns
    page.close()


def test_a_profile_of_next_to_nothing_shows(show):
    page = show({"format": "trnemu-profile", "version": 1, "target": "trn1",
                 "program": "", "time_ns": 0, "cores": 1})
    assert card(page, "Target") == ["trn1", "trn1"]
    assert "no roofline" in texts(page, "#roofline-view")[0]
    assert page.evaluate("document.getElementById('memory').hidden")


def test_what_is_no_profile_is_refused():
    for text in ("", "[]", "{}", '{"format": "other"}', "{", "null"):
        with pytest.raises(Exception, match="no profile"):
            _trnemu.render_report(text)
