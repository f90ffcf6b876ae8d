"""Runs every cell of the notebook on the sweep that it names: notebook_test.py <sonde> <notebook>"""
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import ipykernel  # noqa: F401
import matplotlib  # noqa: F401
import nbformat
import xarray  # noqa: F401
from nbclient import NotebookClient

SONDE, NOTEBOOK = sys.argv[1:3]


class NotebookTest(unittest.TestCase):
    def test_every_cell_runs_and_shows_what_it_says(self):
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        said = re.search(r"^    sonde (run .*\\\n.*)$", notebook.cells[0].source, re.MULTILINE)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([SONDE, *shlex.split(said.group(1).replace("\\\n", ""))], cwd=folder, check=True, capture_output=True)
            client = NotebookClient(notebook, timeout=120, kernel_name="python3",
                                    resources={"metadata": {"path": folder}})
            client.execute()  # raises at the first cell that fails
        outputs = [output for cell in notebook.cells if cell.cell_type == "code"
                   for output in cell.outputs]
        texts = " ".join(output.get("data", {}).get("text/plain", "") for output in outputs)
        pictures = sum("image/png" in output.get("data", {}) for output in outputs)
        self.assertIn("chase.latency_cycles_deviation", texts)
        self.assertIn("address_bytes", texts)
        self.assertEqual(pictures, 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
