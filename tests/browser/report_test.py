#!/usr/bin/env python3
"""report.html in a real browser: on a screen and a phone, light and dark, on paper, and without
scripts, what should be there is there and nothing overflows.

Ends with 77 (skipped) where no Chromium starts. --keep FOLDER leaves the pages and pictures of them.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

SKIPPED = 77
MEASURE = (pathlib.Path(__file__).parent / "measure.js").read_text(encoding="utf-8")
SCREEN, TABLET, PHONE, PAPER = 1280, 760, 420, 718  # px; A4 less 1 cm at either side
RUNS = {  # page: ranks, backend, jobs
    "device": (1, "sim:h200", "device,cache.l1,tlb,topology,shared"),
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
        self.assertEqual(seen["drawings"], 1, "one of the three widths is shown")
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
                    self.check_charts(seen, ["surfaces"])
                    self.assertEqual(seen["paper"] < 0.1, dark)
                    for text in ("132 SMs", "66 TPCs", "L1", "248 KiB", "512 x 4", "TLB L2", "32 x 4 B"):
                        self.assertIn(text, seen["drawn"])
                    self.assertGreater(seen["findings"], 100)
                    self.assertLess(seen["page_height"], 6000)

    def test_a_fleet_names_the_failed_device_and_folds_the_others(self):
        for width in (SCREEN, TABLET, PHONE):
            with self.subTest(width=width):
                seen = self.look("fleet", width, str(width), dark=width == PHONE)
                self.check_layout(seen)
                self.check_charts(seen, ["deviation"])
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
                    self.assertLess(seen["highest_row_px"], 300)

    def test_without_scripts_drawing_findings_and_tables_stand(self):
        for page in RUNS:
            with self.subTest(page=page):
                seen = self.look(page, SCREEN, "no-scripts", scripts=False)
                self.check_layout(seen)
                self.assertTrue(seen["says_why_no_charts"])
                self.assertFalse(seen["charts_stand"], "no headings over empty boxes")
                self.assertGreater(seen["units"], 1)
                self.assertGreater(seen["findings"], 30)

    def test_paper_shows_all_findings(self):
        for page in RUNS:
            for scripts in (True, False):
                with self.subTest(page=page, scripts=scripts):
                    seen = self.look(page, PAPER, "print", media="print", dark=True, scripts=scripts)
                    self.check_layout(seen)
                    self.assertGreater(seen["paper"], 0.9, "paper is white, whatever the screen is")
                    self.assertEqual(seen["findings_shown"], seen["findings"])

    def test_the_printed_page_has_sheets_for_the_folded_findings(self):
        self.look("device", SCREEN)
        pdf = self.browser.pdf()
        sheets = len(re.findall(rb"/Type\s*/Page[^s]", pdf))
        self.assertGreater(sheets, 5)

    def test_a_problem_leads_to_its_values_and_their_probes(self):
        self.look("fleet", SCREEN)
        target = self.browser.evaluate(
            "document.querySelector('.problem a[href^=\"#f\"]').click(),"
            "new Promise(done => setTimeout(() => {"
            "  const row = document.querySelector(':target');"
            "  done({metric: row.cells[0].textContent, shown: row.checkVisibility(),"
            "        top: row.getBoundingClientRect().top,"
            "        evidence: row.closest('.job').querySelector('.evidence summary').textContent});"
            "}, 200))")
        self.assertEqual(target["metric"], "clock.sm_hz")
        self.assertTrue(target["shown"], "its folds are open")
        self.assertTrue(0 <= target["top"] < 900, target)
        self.assertRegex(target["evidence"], r"rows \d+ to \d+ of /jobs/clock/probes")

    def test_it_loads_nothing(self):
        self.look("device", SCREEN)
        loaded = self.browser.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
        self.assertEqual(loaded, [])


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
        result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
