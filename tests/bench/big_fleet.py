#!/usr/bin/env python3
"""Run files of a fleet as large as one likes, from one measured device; and what sonde takes for it.

    tests/bench/big_fleet.py --sonde build/ci/bin/sonde --folder FOLDER --devices 1000

The devices are the first of the template, again and again, each with a UUID of its own; every 400th
has a planted fault. Noise on continuous metrics and on maps is drawn for 128 of them and comes again,
but in the job of the fault, where it is drawn for each. Traces and probes are left out. One file per
node of eight; sonde merges them, and analyses and prints the whole. A table says what each step took:
wall time, CPU time and most memory. Beyond the limits, or if another device is flagged, it fails.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import time
import uuid

import h5py
import numpy

GPUS_PER_NODE = 8
CHUNK_BYTES = 512 << 10
NOISE = 0.003  # of a value: the usual scatter between healthy GPUs of one model
FAULT_EVERY = 400
NOISY_NODES = 16
FAULT_METRIC = ("global.throughput", "global.read_bytes_per_s")
FAULT_FACTOR = 0.8


def kinds_of_metrics(sonde):
    """Kind of each metric, from the table that `sonde list metrics` prints."""
    listed = subprocess.run([sonde, "list", "metrics"], check=True, capture_output=True, text=True)
    lines = listed.stdout.splitlines()
    head = next(line for line in lines if line.strip().startswith("metric"))
    at = head.index("kind")
    rows = (line for line in lines if line.startswith("  ") and line is not head)
    return {row.split()[0]: row[at:].split(" ")[0] for row in rows}


def open_file(path, mode):
    """With the indexes of chunks that sonde's files have."""
    return h5py.File(path, mode, track_order=True, libver=("v110", "v110"))


def create_column(group, name, values, dtype):
    """As sonde writes them: constants as such, of the rest chunks with checksums, packed from 1 KiB on."""
    if len(values) > 0 and (values == values[0]).all():
        return group.create_dataset(name, values.shape, dtype, fillvalue=values[0])
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if len(values) > 0:
        layout.set_chunk((min(len(values), CHUNK_BYTES // dtype.itemsize),))
        layout.set_fletcher32()
        if len(values) * dtype.itemsize >= 1024:
            if dtype.kind != "S" and dtype.itemsize > 1:
                layout.set_shuffle()
            layout.set_deflate(6 if dtype.kind == "S" else 1)
    kind = h5py.h5t.py_create(dtype, logical=True)
    space = h5py.h5s.create_simple((len(values),))
    column = h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, layout))
    if len(values) > 0:
        column[:] = values
    return column


def put(group, name, values):
    """Puts other values in the place of a column."""
    old = group[name]
    units, meaning = old.attrs["units"], old.attrs["long_name"]
    del group[name]
    new = create_column(group, name, values, values.dtype)
    new.attrs["units"], new.attrs["long_name"] = units, meaning


def texts(values):
    longest = max(2, max(len(value.encode()) for value in values))
    kind = h5py.string_dtype("utf-8", longest)
    return numpy.array([value.encode() for value in values], dtype=kind)


def repeat_rows(values, times, step):
    """Rows again and again; those that count other rows go on by `step` each time."""
    return numpy.tile(values, times) + numpy.repeat(
        numpy.arange(times, dtype=values.dtype) * values.dtype.type(step), len(values))


def write_column(group, name, dataset, values):
    column = create_column(group, name, values, dataset.dtype)
    for attribute in ("units", "long_name"):
        if attribute in dataset.attrs:
            column.attrs[attribute] = dataset.attrs[attribute]


OWNED_BY = {"vector_offset": "element", "mode_offset": "mode", "carveout_offset": "carveout",
            "finding_offset": "finding", "device_index": "device"}
DIMENSION_OF = {"vector_values": "element", "mode_values": "mode", "shared_carveouts_bytes": "carveout"}


def copy_rows(old, new, times, main, rows_of):
    """Columns of a group, the rows of the first device so many times.

    @param main the dimension of columns that DIMENSION_OF does not name
    @param rows_of that device, by dimension; none of those that are not there
    """
    for name, dataset in old.items():
        if dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
            new.create_dataset(name, (rows_of.get(name, 0) * times,), dataset.dtype)
            continue
        rows = rows_of.get(DIMENSION_OF.get(name, main), 0)
        if rows == 0 or name in ("probe_offset", "probe_length"):
            values = numpy.zeros(rows * times, dataset.dtype)
        elif name in OWNED_BY:
            values = repeat_rows(dataset[:rows], times, rows_of[OWNED_BY[name]])
        else:
            values = numpy.tile(dataset[:rows], times)
        write_column(new, name, dataset, values)


def rows_of_first(outcomes, findings):
    """Rows that the first device has in the tables of a job."""
    is_first = findings["device_index"][:] == 0
    return {"outcome": int((outcomes["device_index"][:] == 0).sum()),
            "device": 1,
            "finding": int(is_first.sum()),
            "element": int(findings["vector_length"][:][is_first].sum()),
            "mode": int(findings["mode_length"][:][is_first].sum())}


def write_node_template(source, target):
    """A node of equal GPUs without probes and traces."""
    with h5py.File(source) as old, open_file(target, "w") as new:
        for name in old.attrs:
            new.attrs.create(name, old.attrs[name], dtype=old.attrs.get_id(name).dtype)
        old.copy("provenance", new)
        old.copy("unaudited", new)
        devices = {"device": 1, "carveout": int(old["devices/carveout_length"][0])}
        copy_rows(old["devices"], new.create_group("devices", track_order=True), GPUS_PER_NODE,
                  "device", devices)
        jobs = new.create_group("jobs", track_order=True)
        for name, job in old["jobs"].items():
            rows_of = rows_of_first(job["outcomes"], job["findings"])
            for part in job:
                main = {"outcomes": "outcome", "findings": "finding"}.get(part, "")
                group = jobs.create_group(f"{name}/{part}", track_order=True)
                copy_rows(job[part], group, GPUS_PER_NODE, main, rows_of if main else {})


def disturb(findings, kinds, draw):
    """Noise on every continuous number and on the elements of every map."""
    metrics = [metric.decode() for metric in findings["metric"][:]]
    kind = numpy.array([kinds.get(metric, "") for metric in metrics])
    number = findings["number"][:]
    noisy = number * (1 + NOISE * draw.standard_normal(len(number)))
    put(findings, "number", numpy.where(kind == "continuous", noisy, number))
    if findings["vector_values"].shape[0] == 0:
        return
    values = findings["vector_values"][:]
    offsets, lengths = findings["vector_offset"][:], findings["vector_length"][:]
    for row in numpy.flatnonzero((kind == "fingerprint") & (lengths > 0)):
        if findings["unit"][int(row)] in (b"", b"1"):
            continue  # numbers of units, not measurements
        part = slice(int(offsets[row]), int(offsets[row] + lengths[row]))
        values[part] *= 1 + NOISE * draw.standard_normal(int(lengths[row]))
    put(findings, "vector_values", values)


def write_noisy_template(template, target, seed, kinds):
    shutil.copyfile(template, target)
    draw = numpy.random.default_rng(seed)
    with open_file(target, "r+") as file:
        for job in file["jobs"].values():
            disturb(job["findings"], kinds, draw)


def write_node(target, node, template, kinds):
    """@returns the UUIDs of the GPUs that got a fault"""
    shutil.copyfile(template, target)
    draw = numpy.random.default_rng([1, node])
    names = [f"GPU-{uuid.UUID(bytes=draw.bytes(16))}" for _ in range(GPUS_PER_NODE)]
    first = node * GPUS_PER_NODE
    with open_file(target, "r+") as file:
        devices = file["devices"]
        put(devices, "uuid", texts(names))
        put(devices, "node", texts([f"node{node:05}"] * GPUS_PER_NODE))
        put(devices, "rank", numpy.arange(first, first + GPUS_PER_NODE, dtype="i4"))
        job, metric = FAULT_METRIC
        findings = file["jobs"][job]["findings"]
        disturb(findings, kinds, draw)
        rows = numpy.flatnonzero(findings["metric"][:] == metric.encode())
        faulty = [gpu for gpu in range(GPUS_PER_NODE) if (first + gpu) % FAULT_EVERY == 17]
        for gpu in faulty:
            findings["number"][rows[gpu]] *= FAULT_FACTOR
    return [names[gpu] for gpu in faulty]


def write_nodes(template, folder, devices, kinds):
    """@returns the files, and the UUIDs with faults"""
    folder.mkdir(parents=True)
    equal = folder / "equal.h5"
    write_node_template(template, equal)
    noisy = [folder / f"noisy{seed}.h5" for seed in range(NOISY_NODES)]
    files = [folder / f"node{node:05}.h5" for node in range(-(-devices // GPUS_PER_NODE))]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        pool.starmap(write_noisy_template,
                     [(equal, target, seed, kinds) for seed, target in enumerate(noisy)])
        faulty = pool.starmap(write_node, [(target, node, noisy[node % NOISY_NODES], kinds)
                                           for node, target in enumerate(files)])
    for scratch in [equal, *noisy]:
        scratch.unlink()
    return files, [name for names in faulty for name in names]


def measure(what, command, output):
    """Runs it; what it took. @throws SystemExit if it ends with anything but 0, or 4: a verdict"""
    begin = time.monotonic()
    with open(output, "wb") as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 4):
        raise SystemExit(f"{what} ended with {process.returncode}")
    took = {"step": what, "wall_s": time.monotonic() - begin,
            "cpu_s": used.ru_utime + used.ru_stime, "memory_mb": used.ru_maxrss / 1024,
            "output_mb": output.stat().st_size / 1e6}
    print("{step:<20} {wall_s:7.1f} s wall {cpu_s:7.1f} s CPU {memory_mb:7.0f} MiB memory "
          "{output_mb:8.2f} MB out".format(**took), flush=True)
    return took


def simulate(sonde, suite, folder):
    """A run file of one simulated H200."""
    run = folder / "template.h5"
    command = [sonde, "run", "--backend", "sim:h200", "--suite", suite, "-o", run]
    with open(folder / "template.txt", "wb") as log:
        done = subprocess.run(command, stdout=log, stderr=log, check=False)
    if done.returncode not in (0, 3):  # 3: some findings are missing
        raise SystemExit(f"no template: sonde ended with {done.returncode}")
    return run


def measure_all(sonde, files, folder):
    fleet, page = folder / "fleet.h5", folder / "report.html"
    steps = [measure("merge", [sonde, "merge", *files, "-o", fleet], folder / "merge.txt"),
             measure("analyze", [sonde, "analyze", fleet], folder / "analyze.txt")]
    for form in ("json", "csv", "prometheus"):
        steps.append(measure(f"export {form}", [sonde, "export", fleet, "--format", form],
                             folder / f"fleet.{form}"))
    steps.append(measure("report", [sonde, "report", fleet, "-o", page], folder / "report.txt"))
    print(f"fleet.h5 {fleet.stat().st_size / 1e6:.1f} MB, "
          f"report.html {page.stat().st_size / 1e6:.2f} MB")
    return steps, page.stat().st_size / 1e6


def check_verdicts(folder, faulty, devices):
    report = json.loads((folder / "fleet.json").read_text())
    assert len(report["devices"]) == devices, len(report["devices"])
    flagged = {one["uuid"] for one in report["devices"] if one["verdict"] != "pass"}
    assert flagged == set(faulty), f"{len(flagged)} flagged, {len(faulty)} have a fault"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonde", required=True)
    parser.add_argument("--template", type=pathlib.Path,
                        help="a run file; without one a simulated GPU is measured")
    parser.add_argument("--suite", default="standard", help="what is measured of it")
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--devices", type=int, default=1000)
    parser.add_argument("--limit-s", type=float, default=float("inf"), help="of each step")
    parser.add_argument("--limit-mib", type=float, default=float("inf"), help="of each step")
    parser.add_argument("--limit-page-mb", type=float, default=5)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    template = options.template or simulate(options.sonde, options.suite, options.folder)
    files, faulty = write_nodes(template, options.folder / "nodes", options.devices,
                                kinds_of_metrics(options.sonde))
    devices = len(files) * GPUS_PER_NODE
    print(f"{devices} devices in {len(files)} files, {len(faulty)} with a fault")
    steps, page_mb = measure_all(options.sonde, files, options.folder)
    check_verdicts(options.folder, faulty, devices)
    over = [took["step"] for took in steps
            if took["wall_s"] > options.limit_s or took["memory_mb"] > options.limit_mib]
    if page_mb > options.limit_page_mb:
        over.append("page")
    if over:
        raise SystemExit(f"beyond the limits: {', '.join(over)}")


if __name__ == "__main__":
    main()
