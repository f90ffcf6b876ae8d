#!/usr/bin/env python3
"""report.html in a real browser: on a screen and a phone, light and dark, on paper, and without
scripts, what should be there is there and nothing overflows.

Ends with 77 (skipped) where no Chromium starts. --keep FOLDER leaves the pages and pictures of them.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import browser

SKIPPED = 77
MEASURE = (pathlib.Path(__file__).parent / "measure.js").read_text(encoding="utf-8")
SCREEN, TABLET, PHONE, PAPER = 1280, 760, 420, 718  # px; A4 less 1 cm at either side
RUNS = {  # page: ranks, backend, jobs
    "device": (1, "sim:h200", "device,cache.l1,tlb,latency,topology,shared"),
    "pair": (2, "sim:gtx980,gtx980+throttle=0.8", "device,clock,cache.l1"),
    "fleet": (9, "sim:" + "gtx980," * 8 + "gtx980+throttle=0.8", "device,clock"),
}


def make_pages(sonde, mpiexec, folder):
    for name, (ranks, backend, jobs) in RUNS.items():
        run = [str(sonde), "run", "--backend", backend, "--jobs", jobs, "-o", f"{name}.h5"]
        if ranks > 1:
            run = [*mpiexec, "-n", str(ranks), *run]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 4):  # 4: a device failed its verdict
            raise RuntimeError(f"{' '.join(run)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        subprocess.run([str(sonde), "report", f"{name}.h5", "-o", f"{name}.html"], cwd=folder,
                       check=True, capture_output=True)


def make_racks(folder):
    """racks.html: fleet.html as if its first passing GPU stood there 1,000 times, eight in a node."""
    page = (folder / "fleet.html").read_text(encoding="utf-8")
    row = re.search(r"<tr><td>pass</td><td>[^<]*</td><td class=\"number\"[^>]*>\d+</td><td>[^<]*</td>.*?</tr>\n", page)
    rows = "".join(f'<tr><td>pass</td><td>node{i // 8}</td><td class="number">{i}</td>'
                   f"<td>GPU-{i:08x}</td><td></td><td></td></tr>\n" for i in range(1000))
    (folder / "racks.html").write_text(page.replace(row.group(), rows, 1), encoding="utf-8")


FILTERED = """(() => {
  const section = document.querySelector('.filterable[data-table="%s"]');
  const shown = one => one.checkVisibility({contentVisibilityAuto: true});
  const bodies = [...section.querySelectorAll('table')].filter(shown).flatMap(one => [...one.tBodies]);
  const rows = bodies.flatMap(body => [...body.rows]).filter(shown);
  return {rows: rows.filter(row => !row.matches('.group')).map(row => [...row.cells].map(one => one.textContent)),
          groups: rows.filter(row => row.matches('.group')).map(row => row.textContent),
          tally: section.querySelector('output').textContent};
})()"""


class ReportTest(unittest.TestCase):
    chromium = None
    folder = None

    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(browser.Browser(cls.chromium))

    def look(self, page, width, picture="", **how):
        self.browser.open(self.folder / f"{page}.html", width, **how)
        if picture:
            self.browser.screenshot(self.folder / f"{page}-{picture}.png", 4000)
        return self.browser.evaluate(MEASURE)

    def check_layout(self, seen):
        self.assertLessEqual(seen["page_width"], seen["room"], seen["beyond_page"][:8])
        self.assertEqual(seen["beyond_page"], [])
        self.assertEqual(seen["drawings"], 1, "of the one group")
        self.assertEqual(seen["beyond_box"], [])
        self.assertEqual(seen["overlapping"], [])
        self.assertEqual(seen["pale"], [], "contrast below 4.5 : 1")

    def check_charts(self, seen, names):
        self.assertTrue(seen["charts_stand"])
        self.assertFalse(seen["says_why_no_charts"])
        charts = {chart["id"]: chart for chart in seen["charts"]}
        self.assertLessEqual(set(names), set(charts))
        for chart in charts.values():
            self.assertGreater(chart["marks"], 5, chart)

    def test_a_device_at_every_width_light_and_dark(self):
        for width in (SCREEN, TABLET, PHONE):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    seen = self.look("device", width, f"{width}{'-dark' if dark else ''}", dark=dark)
                    self.check_layout(seen)
                    self.check_charts(seen, ["staircase"])
                    self.assertIn("Staircases of caches and TLBs", seen["folded_parts"])
                    self.assertEqual(seen["paper"] < 0.1, dark)
                    for text in ("132 SMs", "66 TPCs", "L1", "248 KiB", "512 x 4", "TLB L2", "32 x 4 B"):
                        self.assertIn(text, seen["drawn"])
                    cells = self.browser.evaluate(
                        "[...document.querySelectorAll('.key_numbers tr')].map(row => [...row.cells]"
                        ".filter(cell => getComputedStyle(cell).display !== 'none').length)")
                    self.assertEqual(len(set(cells)), 1, "each number stands under its heading")
                    self.assertGreater(seen["findings"], 100)
                    self.assertLess(seen["page_height"], {SCREEN: 7000, TABLET: 9000, PHONE: 5000}[width])

    def test_charts_of_one_device_are_those_of_the_chosen_one(self):
        self.look("pair", SCREEN)
        seen = """(() => {
            const box = document.getElementById('drawn_device');
            const curves = [...document.querySelectorAll('#stairs path')].map(one => one.getAttribute('d')).join();
            return {labels: [...box.options].map(one => one.text), chosen: box.selectedIndex, curves,
                    charts: document.querySelectorAll('#stairs > div').length};
        })()"""
        first = self.browser.evaluate(seen)
        self.assertEqual((len(first["labels"]), first["chosen"]), (2, 0))
        self.assertEqual(sorted(label[-6:] for label in first["labels"]), ["rank 0", "rank 1"])
        self.assertGreater(first["charts"], 1)
        choose = ("(box => { box.selectedIndex = %d; box.dispatchEvent(new Event('change'));"
                  " return new Promise(done => setTimeout(() => done(true), 300)); })"
                  "(document.getElementById('drawn_device'))")
        self.browser.evaluate(choose % 1)
        second = self.browser.evaluate(seen)
        self.assertEqual((second["chosen"], second["charts"]), (1, first["charts"]))
        self.assertNotEqual(second["curves"], first["curves"])
        self.check_layout(self.browser.evaluate(MEASURE))
        self.browser.evaluate(choose % 0)
        self.assertEqual(self.browser.evaluate(seen), first, "back again, and nothing is left over")

    def test_a_fleet_names_the_failed_device_and_folds_the_others(self):
        for width in (SCREEN, TABLET, PHONE):
            with self.subTest(width=width):
                seen = self.look("fleet", width, str(width), dark=width == PHONE)
                self.check_layout(seen)
                self.check_charts(seen, ["strips", "strip"])
                self.assertEqual(len(seen["problems"]), 1)
                self.assertIn("clock.sm_hz", seen["problems"][0])
                self.assertEqual(seen["folded_devices"], ["8 that pass"])
                self.assertLess(seen["first_heading_px"], 2 * 900, "on the first two screens")

    def test_what_is_unfolded_has_room(self):
        for page in RUNS:
            for width in (SCREEN, TABLET, PHONE):
                with self.subTest(page=page, width=width):
                    self.look(page, width)
                    self.browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
                    seen = self.browser.evaluate(MEASURE)
                    self.check_layout(seen)
                    self.assertEqual(seen["findings_shown"], seen["findings"])
                    self.assertLess(seen["highest_row_px"], 300, "a list of 64 values")
                    if page == "device":
                        self.check_charts(seen, ["stairs"])
                        self.assertEqual(seen["folded_parts"], [])

    def test_without_scripts_drawing_findings_and_tables_stand(self):
        for page in RUNS:
            with self.subTest(page=page):
                seen = self.look(page, SCREEN, "no-scripts", scripts=False)
                self.check_layout(seen)
                self.assertTrue(seen["says_why_no_charts"])
                self.assertFalse(seen["charts_stand"], "no headings over empty boxes")
                self.assertGreater(seen["units"], 1)
                self.assertGreater(seen["findings"], 30)

    def test_paper_shows_what_is_unfolded(self):
        for page in RUNS:
            for scripts in (True, False):
                with self.subTest(page=page, scripts=scripts):
                    seen = self.look(page, PAPER, "print", media="print", dark=True, scripts=scripts)
                    self.check_layout(seen)
                    self.assertGreater(seen["paper"], 0.9, "paper is white, whatever the screen is")
                    self.assertLess(seen["findings_shown"], seen["findings"] / 10)

    def test_a_problem_leads_to_its_values_and_their_probes(self):
        self.look("fleet", SCREEN)
        target = self.browser.evaluate(
            "document.querySelector('.problem a[href^=\"#f\"]').click(),"
            "new Promise(done => setTimeout(() => {"
            "  const row = document.querySelector(':target');"
            "  done({metric: row.cells[0].textContent, shown: row.checkVisibility(),"
            "        top: row.getBoundingClientRect().top,"
            "        evidence: row.closest('.job').querySelector('.evidence').textContent});"
            "}, 200))")
        self.assertEqual(target["metric"], "clock.sm_hz")
        self.assertTrue(target["shown"], "its folds are open")
        self.assertTrue(0 <= target["top"] < 900, target)
        self.assertRegex(target["evidence"], r"rows \d+ to \d+ of /probes")

    def ask(self, table, **inputs):
        """What stands in the tables of that kind after text, choice, order and groups were asked for."""
        selectors = {"text": "[type=search]", "choice": "select:not(.order)", "order": "select.order",
                     "grouped": "[type=checkbox]"}
        for name, value in inputs.items():
            done = self.browser.evaluate(
                f"(one => one && (one.type === 'checkbox' ? one.checked = {json.dumps(value)}"
                f" : one.value = {json.dumps(value)}, one.dispatchEvent(new Event(one.type === 'search' ? 'input'"
                f" : 'change')), new Promise(done => setTimeout(() => done(true), 250))))"
                f"(document.querySelector('.filterable[data-table={table}] {selectors[name]}'))")
            self.assertTrue(done, f"{table} has no {selectors[name]}")
        return self.browser.evaluate(FILTERED % table)

    def test_a_strip_names_who_is_out_and_another_metric_can_be_chosen(self):
        self.look("fleet", SCREEN)
        texts = "[...document.querySelectorAll('#%s text')].map(one => one.textContent).join(' | ')"
        dots = """[...document.querySelectorAll('#strips > div:first-child .mark-symbol path')]
            .map(one => getComputedStyle(one).fill)"""
        strips = self.browser.evaluate(texts % "strips")
        self.assertRegex(strips, r"clock\.\w+: 1 of 9 out: \S+ rank 8")
        self.assertRegex(strips, r"\| \S+ rank 8", "beside its dot")
        fills = self.browser.evaluate(dots)
        self.assertEqual((len(fills), fills.count("rgb(213, 94, 0)")), (9, 1), fills)
        chosen = self.browser.evaluate(
            "(box => { box.selectedIndex = box.options.length - 1; box.dispatchEvent(new Event('change'));"
            " return box.options[box.selectedIndex].text; })(document.getElementById('strip_metric'))")
        time.sleep(0.3)
        self.assertIn(chosen, self.browser.evaluate(texts % "strip"))

    def test_devices_are_filtered_ordered_and_grouped_by_node(self):
        for width in (SCREEN, PHONE):
            with self.subTest(width=width):
                self.look("racks", width)
                self.assertEqual([row[0] for row in self.ask("devices")["rows"]], ["fail"], "the others are folded")
                seen = self.ask("devices", text="PASS node7 ")
                self.assertEqual(len(seen["rows"]), 8 + 80, "node7 and node70 to node79")
                self.assertEqual(seen["tally"], f"88 of {1000 + 8} GPUs")
                self.check_layout(self.browser.evaluate(MEASURE))
                seen = self.ask("devices", text="", order="rank")
                ranks = [int(row[2]) for row in seen["rows"]]
                self.assertEqual(len(ranks), 1008)
                self.assertEqual(ranks, sorted(ranks), "by number, not by letters")
                seen = self.ask("devices", order="", choice="fail")
                self.assertEqual([row[0] for row in seen["rows"]], ["fail"])
                seen = self.ask("devices", choice="", grouped=True)
                self.assertEqual(len(seen["groups"]), 126)
                self.assertRegex(seen["groups"][0], "8 GPUs: 1 fail, 7 pass$", "the worst node comes first")
                self.assertEqual(self.ask("devices", text="node99", order="node")["groups"],
                                 ["node99 8 GPUs: 8 pass"])
                seen = self.ask("devices", text="", order="", grouped=False)
                self.assertEqual((len(seen["rows"]), seen["tally"]), (1, ""), "as it was")

    def test_a_heading_orders_up_down_and_not_at_all(self):
        self.look("racks", SCREEN)
        click = "document.querySelector('.filterable table:not([hidden]) th:nth-child(3) button').click()"
        for ranks in (lambda all_ranks: all_ranks[:3] == [0, 1, 1], lambda all_ranks: all_ranks[0] == 999,
                      lambda all_ranks: len(all_ranks) == 1):
            self.browser.evaluate(click)
            seen = [int(row[2]) for row in self.ask("devices")["rows"]]
            self.assertTrue(ranks(seen), seen[:5])

    def test_findings_of_all_jobs_and_devices_are_filtered(self):
        self.look("fleet", SCREEN)
        seen = self.ask("findings", text="clock.sm_hz")
        self.assertEqual(len(seen["rows"]), 9)
        self.assertEqual(len(seen["groups"]), 9, "each below the name of its device")
        self.look("device", PHONE)
        loaded = self.browser.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
        self.assertEqual(loaded, [], "the page needs nothing else")
        all_metrics = [row[0] for row in self.ask("findings", order="metric")["rows"]]
        self.assertEqual(all_metrics, sorted(all_metrics, key=lambda name: (
            [part.zfill(6) if part.isdigit() else part for part in re.split(r"([0-9]+)", name)])))
        seen = self.ask("findings", choice="tlb", order="confidence")
        sure = [float(row[4]) for row in seen["rows"] if row[4]]
        self.assertEqual((sure, seen["groups"]), (sorted(sure), []))
        self.assertTrue(all(row[0].startswith("tlb.") for row in seen["rows"]), "one job")
        self.check_layout(self.browser.evaluate(MEASURE))
        self.browser.evaluate("location.hash = 'f0-cache.l1.size_bytes'")
        self.assertEqual(self.ask("findings")["tally"], "", "a link to a row shows it where it belongs")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sonde", type=pathlib.Path, required=True)
    parser.add_argument("--mpiexec", nargs="+", default=["mpirun"])
    parser.add_argument("--keep", type=pathlib.Path)
    options, rest = parser.parse_known_args()
    ReportTest.chromium = browser.find_chromium()
    if ReportTest.chromium is None:
        print("skipped: no Chromium that starts")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="sonde-pages-") as temporary:
        ReportTest.folder = options.keep or pathlib.Path(temporary)
        ReportTest.folder.mkdir(parents=True, exist_ok=True)
        make_pages(options.sonde.resolve(), options.mpiexec, ReportTest.folder)
        make_racks(ReportTest.folder)
        result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
