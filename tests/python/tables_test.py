"""The columns of a run file as others read them: tables_test.py <make_run_file> <docs folder>"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

from sonde import tables

MAKE_RUN_FILE, DOCS = sys.argv[1:3]


class TablesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name) / "run.h5"
        text = subprocess.run([MAKE_RUN_FILE, cls.path, "3"], check=True, capture_output=True)
        cls.expected = json.loads(text.stdout)
        cls.file = tables.open_run(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.file.close()
        cls.folder.cleanup()

    def test_texts_are_utf8(self):
        devices = tables.read_table(self.file["devices"], "device")
        self.assertEqual(devices["reason"][2], self.expected[2]["reason"])
        self.assertIn("größer", self.file["provenance"].attrs["config_json"].decode())

    def test_ragged_carveouts(self):
        devices = tables.read_table(self.file["devices"], "device")
        for row, device in enumerate(self.expected):
            values = tables.ragged(
                self.file["devices"], devices, row, "carveout", "shared_carveouts_bytes")
            self.assertEqual(values.tolist(), device["carveouts"])

    def test_every_column_has_a_dimension_units_and_a_name(self):
        columns = []

        def check(name, item):
            if not isinstance(item, h5py.Dataset) or item.attrs.get("CLASS"):
                return
            columns.append(name)
            self.assertEqual(len(item.dims[0]), 1, name)
            self.assertEqual(item.dims[0][0].shape, item.shape, name)
            self.assertIsInstance(item.attrs["units"], str, name)
            self.assertTrue(item.attrs["long_name"], name)
            self.assertIsNone(h5py.check_vlen_dtype(item.dtype), name)

        self.file.visititems(check)
        self.assertGreater(len(columns), 150)

    def test_the_format_is_documented_column_by_column(self):
        text = (Path(DOCS) / "file-format.md").read_text()
        names = set()
        self.file.visititems(lambda name, item: names.add(name.rsplit("/", 1)[-1])
                             if isinstance(item, h5py.Dataset) else None)
        names |= set(self.file.attrs) | set(self.file["provenance"].attrs)
        self.assertEqual([name for name in sorted(names) if f"`{name}`" not in text], [])

    def test_recorded_values_are_compressed(self):
        windows = self.file["jobs/cache.l1/traces/window_cycles"]
        self.assertEqual(windows.dtype, np.uint16)
        self.assertEqual(windows.compression, "gzip")
        self.assertTrue(windows.shuffle)
        self.assertLess(windows.id.get_storage_size(), windows.nbytes)

    def test_small_numbers_take_few_bytes(self):
        lanes = self.file["jobs/cache.l1/traces"]
        self.assertEqual(lanes["warp"].dtype, np.int32)
        self.assertEqual(lanes["accesses"].dtype, np.uint16)  # below 1000
        self.assertEqual(lanes["elapsed_cycles"].dtype, np.uint64)  # random 64 bits
        self.assertEqual(lanes["window_offset"].dtype, np.uint64)

    def test_columns_of_one_value_take_no_room(self):
        kind = self.file["jobs/cache.l1/probes/kind"]
        self.assertGreater(len(kind), 2)
        self.assertEqual(set(kind[()]), {b"chase"})
        self.assertEqual(kind.id.get_storage_size(), 0)
        lane = self.file["jobs/cache.l1/traces/lane"]
        self.assertGreater(len(lane), 2)
        self.assertEqual(lane.id.get_storage_size(), 0)

    def test_other_schema_is_refused(self):
        path = Path(self.folder.name) / "other.h5"
        with h5py.File(path, "w") as other:
            other.attrs["sonde_schema_version"] = 99
        with self.assertRaisesRegex(ValueError, "99"):
            tables.open_run(path)

    def test_xarray_opens_every_group(self):
        try:
            import h5netcdf  # noqa: F401
            import xarray
        except ImportError:
            self.skipTest("no xarray with h5netcdf")
        groups = []
        self.file.visititems(
            lambda name, item: groups.append(name) if isinstance(item, h5py.Group) else None)
        for name in groups:
            with xarray.open_dataset(self.path, engine="h5netcdf", group=name) as data:
                for variable in data.variables.values():
                    self.assertEqual(len(variable.dims), 1, name)
        with xarray.open_dataset(self.path, engine="h5netcdf",
                                 group="jobs/cache.l1/traces") as data:
            self.assertEqual(data.window_cycles.dims, ("window",))
            self.assertEqual(data.sm.dims, ("lane",))
            self.assertEqual(data.window_cycles.attrs["units"], "cycle")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
