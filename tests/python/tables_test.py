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

    def test_ragged_carveouts(self):
        devices = tables.read_table(self.file["devices"], "device")
        values = tables.ragged_rows(self.file["devices"], devices, np.arange(len(self.expected)),
                                    "carveout", "shared_carveouts_bytes")
        self.assertEqual([one.tolist() for one in values],
                         [device["carveouts"] for device in self.expected])

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
        self.assertEqual(windows.dtype, np.uint32)
        self.assertEqual(windows.compression, "gzip")
        self.assertTrue(windows.shuffle and windows.fletcher32)
        self.assertLess(windows.id.get_storage_size(), windows.nbytes)

    def groups(self):
        found = []
        self.file.visititems(
            lambda name, item: found.append(name) if isinstance(item, h5py.Group) else None)
        return found

    def test_h5netcdf_and_xarray_open_every_group(self):
        try:
            import h5netcdf
            import xarray
        except ImportError:
            self.skipTest("no xarray with h5netcdf")
        with h5netcdf.File(self.path, "r") as file:
            self.assertEqual(file["findings"].dimensions["finding"].size,
                             len(self.file["findings/metric"]))
        for name in self.groups():
            with xarray.open_dataset(self.path, engine="h5netcdf", group=name) as data:
                for variable in data.variables.values():
                    self.assertEqual(len(variable.dims), 1, name)
        with xarray.open_dataset(self.path, engine="h5netcdf",
                                 group="jobs/cache.l1/traces") as data:
            self.assertEqual(data.window_cycles.dims, ("window",))
            self.assertEqual(data.sm.dims, ("lane",))
            self.assertEqual(data.window_cycles.attrs["units"], "cycle")

    def test_netcdf_c_reads_every_column(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("no netCDF4")
        with netCDF4.Dataset(self.path) as file:
            file.set_auto_mask(False)
            columns = 0
            for name in self.groups():
                for column, variable in file[name].variables.items():
                    self.assertEqual(len(variable.dimensions), 1, name)
                    np.testing.assert_array_equal(variable[:], self.file[name][column][()], name)
                    columns += 1
        self.assertGreater(columns, 150)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
