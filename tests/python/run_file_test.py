"""A run file as others read it, by the Python package and by plain HDF5: run_file_test.py <make_run_file> <docs folder>"""
import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import h5py
import numpy as np

import sonde
from sonde import __main__ as command
from sonde import frames, tables

MAKE_RUN_FILE, DOCS = sys.argv[1:3]


def put_names(group, texts):
    """The texts of a group, as docs/file-format.md lays it down."""
    words = [text.encode() for text in texts]
    names = group.create_group("names")
    names["text_offset"] = np.cumsum([0, *map(len, words)])[:-1].astype(np.uint64)
    names["text_length"] = np.array([*map(len, words)], np.uint32)
    names["text_bytes"] = np.frombuffer(b"".join(words), np.uint8)


class RunFileTest(unittest.TestCase):
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


class ColumnsTest(RunFileTest):
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
        # The page names `before_x` and `x_offset` alone: `after_x` and `x_length` go with them.
        names = {re.sub("_length$", "_offset", re.sub("^after_", "before_", name)) for name in names}
        self.assertEqual([name for name in sorted(names) if f"`{name}`" not in text], [])

    def test_recorded_values_are_compressed(self):
        windows = self.file["traces/window_cycles"]
        self.assertEqual(windows.dtype, np.uint16)
        self.assertEqual(windows.compression, "gzip")
        self.assertTrue(windows.shuffle)
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
        with xarray.open_dataset(self.path, engine="h5netcdf", group="traces") as data:
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


class FramesTest(RunFileTest):
    def lanes_of(self, job):
        """(probe, lane, what was written) in the order of the file, counted by hand."""
        lane = 0
        probe = 0
        for device in self.expected:
            for name, outcome in device["jobs"].items():
                for written in outcome["probes"]:
                    for one in written["lanes"]:
                        if name == job:
                            yield probe, lane, one
                        lane += 1
                    probe += 1

    def test_flags_are_the_rows_of_the_analysis(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.h5"
            path.write_bytes(self.path.read_bytes())
            with h5py.File(path, "r+") as file:
                file.pop("analysis", None)
            with self.assertRaisesRegex(ValueError, "not analysed yet"):
                sonde.flags(path)
            with h5py.File(path, "r+") as file:
                table = file.create_group("analysis/flags")
                table["flag"] = np.zeros(1)
                table["flag"].make_scale("flag")
                texts = ["GPU-1", "shared.latency_cycles", "SM 3, 17"]
                put_names(file["analysis"], texts)
                columns = {"uuid": 0, "metric": 1, "unit": 2, "score": 9.5}
                for name, value in columns.items():
                    table[name] = np.array([value])
                    table[name].attrs["units"] = "1" if name == "score" else ""
                    table[name].dims[0].attach_scale(table["flag"])
            [flag] = sonde.flags(path).to_dict("records")
        self.assertEqual(flag, {"uuid": "GPU-1", "metric": "shared.latency_cycles", "unit": "SM 3, 17", "score": 9.5})

    def test_every_access_has_its_sm_address_and_cycles(self):
        seen = 0
        for job in ("cache.l1", "sharing"):
            frame = sonde.traces(self.path, job)
            by_lane = {lane: rows for lane, rows in frame.groupby("lane")}
            for probe, lane, written in self.lanes_of(job):
                windows = written["window_cycles"]
                if not windows:
                    self.assertNotIn(lane, by_lane)
                    continue
                seen += 1
                rows = by_lane[lane]
                offsets = np.array(written["offsets_bytes"], np.uint64).astype(np.int64).tolist()
                self.assertEqual(rows["cycles"].tolist(), windows)
                self.assertEqual(set(rows["probe"]), {probe})
                self.assertEqual(set(rows["sm"]), {written["sm"]})
                self.assertEqual(rows["access"].tolist(), list(range(len(windows))))
                self.assertEqual(rows["address_bytes"].tolist(),
                                 [offsets[i % len(offsets)] if offsets else -1
                                  for i in range(len(windows))])
        self.assertGreater(seen, 5)

    def test_traces_of_some_probes(self):
        whole = sonde.traces(self.path, "cache.l1")
        chosen = whole["probe"].unique()[[1, -1]]
        self.assertTrue(sonde.traces(self.path, "cache.l1", chosen).reset_index(drop=True).equals(
            whole[whole["probe"].isin(chosen)].reset_index(drop=True)))
        self.assertEqual(set(sonde.traces(self.path, "cache.l1", int(chosen[0]))["probe"]),
                         {chosen[0]})

    def test_histograms_count_what_was_kept_either_way(self):
        frame = sonde.histograms(self.path, "cache.l1")
        kept = counted = 0
        for _, lane, written in self.lanes_of("cache.l1"):
            rows = frame[frame["lane"] == lane]
            pairs = list(zip(rows["cycles"], rows["accesses"]))
            if written["histogram"]:
                kept += 1
                self.assertEqual(pairs, [tuple(pair) for pair in written["histogram"]])
            elif written["window_cycles"]:
                counted += 1
                cut = np.minimum(written["window_cycles"], 2047)
                self.assertEqual(pairs, list(zip(*np.unique(cut, return_counts=True))))
        self.assertGreater(kept, 0)
        self.assertGreater(counted, 0)

    def test_findings_have_their_kind_of_value(self):
        uuid = self.expected[1]["uuid"]
        frame = sonde.findings(self.path, "cache.l1.*", uuid).set_index("metric")
        self.assertEqual(set(frame["uuid"]), {uuid})
        self.assertEqual(frame.loc["cache.l1.line_bytes", "value"], 128.0)
        self.assertEqual(frame.loc["cache.l1.line_bytes", "samples"], 9)
        self.assertEqual(frame.loc["cache.l1.replacement", "value"], "lru")
        self.assertEqual(frame.loc["cache.l1.way_probability", "value"].tolist(), [0.25, 0.75])
        self.assertIsNone(frame.loc["cache.l1.sets", "value"])
        self.assertEqual(frame.loc["cache.l1.sets", "status"], "not_present")
        self.assertEqual(len(sonde.findings(self.path, "cache.l1.sets")), 3)

    def test_labels_and_parameters_become_columns(self):
        path = Path(self.folder.name) / "labels.h5"
        path.write_bytes(self.path.read_bytes())
        with h5py.File(path, "r+") as file:
            rows = sonde.probes(file, "cache.l1").index.to_numpy()
            labels = file["probes/label"]
            texts = tables.names_of(file).tolist()
            labels[rows] = np.resize(len(texts) + np.arange(3), len(rows))
            texts += ["cache.l1 span 4096 step 128", "cache.l1.odd", "cache.l12 span 1"]
            del file["names"]
            put_names(file, texts)
        frame = sonde.probes(path, "cache.l1")
        self.assertEqual(frame["span_bytes"].tolist()[:3:2], [4096, 1])
        self.assertEqual(frame["step_bytes"].iloc[0], 128)
        written = [probe["parameters"]["size_bytes"] for device in self.expected
                   for probe in device["jobs"]["cache.l1"]["probes"]]
        self.assertEqual(frame["size_bytes"].tolist(), written)
        self.assertEqual(str(frame["start"].dtype), "datetime64[ns, UTC]")
        self.assertEqual(frame.attrs["units"]["device_s"], "s")
        # Of what: the label's first word is the metric's name or the front of it.
        behind = sonde.evidence(path, "cache.l1.line_bytes")
        self.assertEqual({label.split(" ")[0] for label in behind["label"]}, {"cache.l1"})
        counts = sonde.histograms(path, "cache.l1", behind.index).groupby("probe")["accesses"].sum()
        self.assertEqual(behind["accesses"].dropna().tolist(), counts.tolist())
        for probe, median in behind["median_cycles"].dropna().items():
            rows = sonde.histograms(path, "cache.l1", probe)
            windows = np.sort(np.repeat(rows["cycles"], rows["accesses"]))
            self.assertEqual(median, windows[(len(windows) - 1) // 2])
            self.assertAlmostEqual(behind["mean_cycles"][probe], windows.mean())

    def test_evidence_of_a_metric_that_no_label_names_is_the_whole_job(self):
        self.assertEqual(len(sonde.evidence(self.path, "cache.l1.line_bytes")),
                         len(sonde.probes(self.path, "cache.l1")))
        with self.assertRaisesRegex(KeyError, "cache.l1.nothing"):
            sonde.evidence(self.path, "cache.l1.nothing")

    def test_devices_and_provenance_are_texts(self):
        frame = sonde.devices(self.path)
        self.assertEqual(frame["uuid"].tolist(), [device["uuid"] for device in self.expected])
        self.assertEqual(frame["reason"][2], "Größe in µs")
        with h5py.File(self.path) as file:
            table = tables.read_table(file["analysis/verdicts"], "verdict_row")
        judged, verdicts = table["uuid"].tolist(), table["verdict"].tolist()
        self.assertTrue(judged)
        self.assertEqual(frame.set_index("uuid").loc[judged, "verdict"].tolist(), verdicts)
        self.assertIn("größer", sonde.provenance(self.path)["config_json"])

    def test_a_gpu_of_a_sweep_has_the_worst_verdict_of_its_settings(self):
        first, second, *_ = [device["uuid"] for device in self.expected]
        rows = {"uuid": [first, second, first, second, first], "likely_class": ["", "", "memory", "SM", ""],
                "verdict": ["pass", "pass", "fail", "warn", "pass"]}
        verdicts = {name: np.array(texts, object) for name, texts in rows.items()}
        own = tables.read_table
        with mock.patch.object(frames, "read_table", lambda group, dimension:
                               verdicts if dimension == "verdict_row" else own(group, dimension)):
            frame = sonde.devices(self.path).set_index("uuid")
        self.assertEqual(frame.loc[[first, second], "verdict"].tolist(), ["fail", "warn"])
        self.assertEqual(frame.loc[[first, second], "likely_class"].tolist(), ["memory", "SM"])

    def test_points_of_a_sweep(self):
        self.assertEqual(len(sonde.points(self.path)), 1)
        self.assertEqual(set(sonde.findings(self.path)["point"]), {0})
        path = Path(self.folder.name) / "sweep.h5"
        path.write_bytes(self.path.read_bytes())
        with h5py.File(path, "r+") as file:  # as docs/file-format.md lays it down
            scale = file.create_group("points").create_dataset("point", data=np.zeros(3))
            scale.make_scale("point")
            if "point_index" in file["devices"]:
                del file["devices/point_index"]
            owners = (("points", "memory_percent", [25.0, 50.0, 100.0], scale),
                      ("devices", "point_index", [0, 2, 1], file["devices/device"]))
            for group, name, values, dimension in owners:
                column = file[group].create_dataset(name, data=np.array(values))
                column.attrs["units"] = "1"
                column.dims[0].attach_scale(dimension)
        frame = sonde.findings(path, "cache.l1.line_bytes").join(sonde.points(path), on="point")
        self.assertEqual(frame["memory_percent"].tolist(), [25.0, 100.0, 50.0])

    def test_other_files_are_refused(self):
        path = Path(self.folder.name) / "other.h5"
        with h5py.File(path, "w") as other:
            other.attrs["sonde_schema_version"] = 99
        with self.assertRaisesRegex(ValueError, "99"):
            sonde.findings(path)
        with self.assertRaisesRegex(KeyError, "no job tlb"):
            sonde.probes(self.path, "tlb")

    def test_the_command_prints_each_kind(self):
        uuid = self.expected[0]["uuid"]
        probe = sonde.probes(self.path, "cache.l1").index[0]
        for arguments, wanted in (([], uuid), (["cache.l1.line_bytes"], "128.0"),
                                  (["cache.l1", "--probe", str(probe)], "address_bytes"),
                                  (["cache.l1.line_bytes", "--evidence"], "median_cycles")):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                command.main([str(self.path), *arguments])
            self.assertIn(wanted, printed.getvalue())
        with self.assertRaisesRegex(SystemExit, "no job"):
            command.main([str(self.path), "tlb", "--probe", "0"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
