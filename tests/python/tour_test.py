"""The tour: its code, its run file, and the script that made it: tour_test.py <sonde> <root of the repository>"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import matplotlib
import numpy as np

import sonde

SONDE, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.append(str(ROOT / "docs/tour"))
import make_file  # noqa: E402

matplotlib.use("Agg")
RUN = ROOT / "docs/tour/h200.h5"
PAGE = (ROOT / "docs/tour.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```\n)?", PAGE, re.MULTILINE | re.DOTALL)


class TourTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def export(self, run):
        return subprocess.run([SONDE, "export", run, "--format", "csv"], check=True, capture_output=True).stdout

    def test_every_block_prints_what_the_page_says_and_draws_its_pictures(self):
        os.symlink(ROOT / "docs", "docs")
        names = {}
        for code, expected in BLOCKS:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "docs/tour.md", "exec"), names)
            self.assertEqual(printed.getvalue(), expected, code)
        names["run"].close()
        self.assertEqual({path.name for path in Path().glob("*.png")},
                         set(re.findall(r"\]\(tour/(\w+\.png)\)", PAGE)))

    def test_every_step_has_a_block(self):
        steps = re.split(r"^## \d", PAGE, flags=re.MULTILINE)
        self.assertEqual([step[:40] for step in steps if "```python" not in step], [])
        self.assertEqual(len(steps), 9)

    def test_sonde_reads_the_file(self):
        self.assertIn(b"cache.l1.ways", self.export(RUN))
        subprocess.run([SONDE, "merge", RUN, "-o", "merged.h5"], check=True, capture_output=True)
        self.assertEqual(self.export("merged.h5"), self.export(RUN))

    def test_a_smaller_file_has_all_findings_and_the_kept_probes(self):
        kept = [("tlb", "tlb span 268435456 .*", 1), ("cache.l1", "cache.l1 size 246912 .*", 2)]
        with unittest.mock.patch.object(make_file, "KEPT", kept):
            make_file.main(RUN, "small.h5")
        self.assertEqual(self.export("small.h5"), self.export(RUN))
        for job, _, count in kept:
            probes, before = sonde.probes("small.h5", job), sonde.probes(RUN, job)
            before = before[before.start.isin(probes.start)]
            self.assertEqual(len(before), count)
            self.assertEqual(probes.label.tolist(), before.label.tolist())
            one, other = (sonde.traces(run, job, table.index).drop(columns=["probe", "lane"])
                          for run, table in (("small.h5", probes), (RUN, before)))
            self.assertGreater(len(one), 0)
            np.testing.assert_array_equal(one, other)
        with self.assertRaises(KeyError):
            sonde.probes("small.h5", "placement")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
