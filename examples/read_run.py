#!/usr/bin/env python3
"""Reads a run file of sonde with nothing but h5py and numpy.

    read_run.py run.h5                                  devices and verdicts
    read_run.py run.h5 cache.l1                         findings of a job, device by device
    read_run.py run.h5 cache.l1 --probe 3               one probe, lane by lane

docs/file-format.md says what each table means. As a module: read_table, ragged, addresses,
histogram, value_of.
"""
import argparse
import json
import sys

import h5py
import numpy as np

SCHEMA_VERSIONS = (4, 5)  # 4 has no points


def open_run(path):
    """The open file. Raises ValueError if it is not a run of the schema this script knows."""
    file = h5py.File(path, "r")
    version = file.attrs.get("sonde_schema_version")
    if version not in SCHEMA_VERSIONS:
        file.close()
        raise ValueError(f"{path}: schema version {version}, expected one of {SCHEMA_VERSIONS}")
    return file


def read_table(group, dimension):
    """All columns over one dimension of a group, as {name: array}; texts as str."""
    scale = group[dimension]
    table = {}
    for name, dataset in group.items():
        if name == dimension or not isinstance(dataset, h5py.Dataset) or not dataset.dims:
            continue
        if len(dataset.dims[0]) == 0 or dataset.dims[0][0] != scale:
            continue
        values = dataset[()]
        table[name] = np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
    return table


def ragged(group, table, row, name, column):
    """The recorded values of one row: column[offset : offset + length]."""
    begin = int(table[f"{name}_offset"][row])
    return group[column][begin : begin + int(table[f"{name}_length"][row])]


def addresses(traces, lanes, row):
    """The byte in the buffer that each recorded access of a lane went to: it goes round a list."""
    steps = ragged(traces, lanes, row, "visit", "visit_steps").astype(np.uint64)
    accesses = int(lanes["window_length"][row]) if len(steps) else 0
    return np.resize(steps * np.uint64(lanes["visit_step_bytes"][row]), accesses)


def histogram(traces, lanes, row):
    """Timed accesses of a lane by clock window: bins that count anything, and their counts."""
    return (ragged(traces, lanes, row, "bin", "bin_cycles"),
            ragged(traces, lanes, row, "bin", "bin_accesses"))


def value_of(group, findings, row):
    """The value of one finding: a float, a str, an array, or None."""
    kind = findings["value_kind"][row]
    if kind == "number":
        return float(findings["number"][row])
    if kind == "text":
        return str(findings["text"][row])
    if kind == "vector":
        return ragged(group, findings, row, "vector", "vector_values")
    return None


def print_devices(file):
    provenance = {name: value.decode() if isinstance(value, bytes) else value
                  for name, value in file["provenance"].attrs.items()}
    print(f"{provenance['command_line']}  ({provenance['started_utc']}, "
          f"sonde {provenance['sonde_version']}, seed {provenance['seed']})")
    devices = read_table(file["devices"], "device")
    verdicts = {}
    if "analysis" in file:
        rows = read_table(file["analysis/verdicts"], "verdict_row")
        verdicts = dict(zip(rows["uuid"], rows["verdict"]))
    for row, uuid in enumerate(devices["uuid"]):
        print(f"{row:4}  {uuid}  {devices['name'][row]}  {devices['node'][row]}  "
              f"rank {devices['rank'][row]}  {devices['status'][row]}  "
              f"{verdicts.get(uuid, 'not analysed')}")


def print_findings(file, job):
    group = file["jobs"][job]["findings"]
    uuids = read_table(file["devices"], "device")["uuid"]
    findings = read_table(group, "finding")
    for row, metric in enumerate(findings["metric"]):
        value = value_of(group, findings, row)
        if isinstance(value, np.ndarray):
            value = f"[{len(value)} values]"
        print(f"{uuids[findings['device_index'][row]]}  {metric} = {value} "
              f"{findings['unit'][row]}  ({findings['status'][row]}, "
              f"{findings['samples'][row]} samples)")


def print_probe(file, job, probe):
    probes = read_table(file["jobs"][job]["probes"], "probe")
    traces = file["jobs"][job]["traces"]
    lanes = read_table(traces, "lane")
    print(f"{probes['label'][probe]}: {json.loads(probes['parameters_json'][probe])}")
    begin = int(probes["lane_offset"][probe])
    for lane in range(begin, begin + int(probes["lane_length"][probe])):
        cycles = ragged(traces, lanes, lane, "window", "window_cycles")
        text = f"SM {lanes['sm'][lane]}: {len(cycles)} accesses"
        if len(cycles):
            text += f", median {np.median(cycles):g} cycles"
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("job", nargs="?")
    parser.add_argument("--probe", type=int)
    arguments = parser.parse_args()
    try:
        with open_run(arguments.run) as file:
            if arguments.job is None:
                print_devices(file)
            elif arguments.probe is None:
                print_findings(file, arguments.job)
            else:
                print_probe(file, arguments.job, arguments.probe)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"read_run.py: {error}")


if __name__ == "__main__":
    main()
