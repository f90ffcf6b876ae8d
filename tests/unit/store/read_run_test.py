"""The file as others read it: read_run_test.py <make_run_file> <examples folder>"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

MAKE_RUN_FILE, EXAMPLES = sys.argv[1:3]
sys.path.insert(0, EXAMPLES)
import read_run  # noqa: E402


class ReadRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name) / "run.h5"
        text = subprocess.run([MAKE_RUN_FILE, cls.path, "3"], check=True, capture_output=True)
        cls.expected = json.loads(text.stdout)
        cls.file = read_run.open_run(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.file.close()
        cls.folder.cleanup()

    def test_every_value_comes_back(self):
        lanes_seen = 0
        for job in ("cache.l1", "sharing"):
            group = self.file["jobs"][job]
            outcomes = read_run.read_table(group["outcomes"], "outcome")
            probes = read_run.read_table(group["probes"], "probe")
            traces = group["traces"]
            lanes = read_run.read_table(traces, "lane")
            for row, device in enumerate(outcomes["device_index"]):
                expected = self.expected[device]["jobs"][job]["probes"]
                self.assertEqual(outcomes["probe_length"][row], len(expected))
                for i, probe in enumerate(expected, int(outcomes["probe_offset"][row])):
                    self.assertEqual(probes["label"][i], probe["label"])
                    self.assertEqual(probes["device_index"][i], device)
                    self.assertEqual(probes["repeat_length"][i], probe["repeats"])
                    self.assertEqual(probes["lane_length"][i], len(probe["lanes"]))
                    for k, lane in enumerate(probe["lanes"], int(probes["lane_offset"][i])):
                        lanes_seen += 1
                        self.assertEqual(lanes["sm"][k], lane["sm"])
                        self.assertEqual(lanes["probe_index"][k], i)
                        windows = read_run.ragged(traces, lanes, k, "window", "window_cycles")
                        self.assertEqual(windows.tolist(), lane["window_cycles"])
                        bins, accesses = read_run.histogram(traces, lanes, k)
                        self.assertEqual([list(pair) for pair in zip(bins, accesses)],
                                         lane["histogram"])
                        offsets = lane["offsets_bytes"]
                        self.assertEqual(
                            read_run.addresses(traces, lanes, k).tolist(),
                            [offsets[i % len(offsets)] for i in range(len(windows))]
                            if offsets else [])
        self.assertGreater(lanes_seen, 10)

    def test_findings_have_their_kind_of_value(self):
        group = self.file["jobs/cache.l1/findings"]
        findings = read_run.read_table(group, "finding")
        values = {
            metric: read_run.value_of(group, findings, row)
            for row, metric in enumerate(findings["metric"])
            if findings["device_index"][row] == 1
        }
        self.assertEqual(values["cache.l1.line_bytes"], 128.0)
        self.assertEqual(values["cache.l1.replacement"], "lru")
        self.assertEqual(values["cache.l1.way_probability"].tolist(), [0.25, 0.75])
        self.assertIsNone(values["cache.l1.sets"])

    def test_texts_are_utf8(self):
        devices = read_run.read_table(self.file["devices"], "device")
        self.assertEqual(devices["reason"][2], self.expected[2]["reason"])
        self.assertIn("größer", self.file["provenance"].attrs["config_json"].decode())

    def test_ragged_carveouts(self):
        devices = read_run.read_table(self.file["devices"], "device")
        for row, device in enumerate(self.expected):
            values = read_run.ragged(
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
        text = (Path(EXAMPLES).parent / "docs" / "file-format.md").read_text()
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
            read_run.open_run(path)

    def test_command_prints_devices_findings_and_probes(self):
        for arguments in ([], ["cache.l1"], ["cache.l1", "--probe", "0"]):
            result = subprocess.run(
                [sys.executable, Path(EXAMPLES) / "read_run.py", self.path, *arguments],
                check=True, capture_output=True, text=True)
            self.assertTrue(result.stdout)

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
