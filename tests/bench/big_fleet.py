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
CHUNK_ROWS = 1 << 16
NOISE = 0.003  # of a value: the usual scatter between healthy GPUs of one model
FAULT_EVERY = 400
NOISY_NODES = 16
FAULT_METRIC = ("global.throughput", "global.read_bytes_per_s")
FAULT_FACTOR = 0.8


def kinds_of_metrics(sonde):
    """Kind of each metric, from the tables that `sonde list metrics` prints, each with a head."""
    listed = subprocess.run([sonde, "list", "metrics"], check=True, capture_output=True, text=True)
    kinds = {}
    at = 0
    for line in listed.stdout.splitlines():
        if line.startswith("  metric "):
            at = line.index(" kind ") + 1
        elif line.startswith("  ") and at:
            kinds[line.split()[0]] = line[at:].split(" ")[0]
    return kinds


def open_file(path, mode):
    """With the indexes of chunks that sonde's files have."""
    return h5py.File(path, mode, track_order=True, libver=("v110", "v110"))


def create_column(group, name, values, dtype):
    """As sonde writes them: chunks with checksums, packed from 1 KiB on."""
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if len(values) > 0:
        layout.set_chunk((min(len(values), CHUNK_ROWS),))
        layout.set_fletcher32()
        if len(values) * dtype.itemsize >= 1024:
            if dtype.itemsize > 1:
                layout.set_shuffle()
            layout.set_deflate(1)
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


def read_names(file):
    """The texts that columns hold the rows of."""
    held = file["names/text_bytes"][:].tobytes()
    places = zip(file["names/text_offset"][:].astype("i8"), file["names/text_length"][:].astype("i8"))
    return [held[begin:begin + length].decode() for begin, length in places]


def add_names(file, more):
    """@returns the rows of these texts, which are new"""
    names = [*read_names(file), *more]
    words = [name.encode() for name in names]
    lengths = numpy.array([len(word) for word in words], "u4")
    group = file["names"]
    put(group, "text_length", lengths)
    put(group, "text_offset", (numpy.cumsum(lengths) - lengths).astype("u8"))
    put(group, "text_bytes", numpy.frombuffer(b"".join(words), "u1"))
    for scale, rows in (("name", len(words)), ("text_byte", int(lengths.sum()))):
        del group[scale]
        group.create_dataset(scale, (rows,), "u1")
    return numpy.arange(len(names) - len(more), len(names), dtype="u4")


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
            "finding_offset": "finding", "outcome_offset": "outcome", "device_index": "device"}
DIMENSION_OF = {"vector_values": "element", "mode_values": "mode", "shared_carveouts_bytes": "carveout"}
MAIN_DIMENSION = {"devices": "device", "outcomes": "outcome", "findings": "finding"}


def copy_rows(old, new, times, main, rows_of):
    """Columns of a group, the rows of the first device so many times.

    @param main the dimension of columns that DIMENSION_OF does not name
    @param rows_of that device, by dimension
    """
    for name, dataset in old.items():
        if dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
            new.create_dataset(name, (rows_of[name] * times,), dataset.dtype)
            continue
        rows = rows_of[DIMENSION_OF.get(name, main)]
        if rows == 0 or name == "probe_length":
            values = numpy.zeros(rows * times, dataset.dtype)
        elif name in OWNED_BY:
            values = repeat_rows(dataset[:rows], times, rows_of[OWNED_BY[name]])
        else:
            values = numpy.tile(dataset[:rows], times)
        write_column(new, name, dataset, values)


def rows_of_first(file):
    """Rows that the first device has in each table."""
    findings = file["findings"]
    of_first = slice(0, int((findings["device_index"][:] == 0).sum()))
    rows = {"device": 1,
            "carveout": int(file["devices/carveout_length"][0]),
            "outcome": int(file["devices/outcome_length"][0]),
            "finding": of_first.stop}
    for owner in ("vector", "mode"):
        rows[OWNED_BY[f"{owner}_offset"]] = int(findings[f"{owner}_length"][of_first].sum())
    return rows


def write_node_template(source, target):
    """A node of equal GPUs without probes and traces."""
    with h5py.File(source) as old, open_file(target, "w") as new:
        for name in old.attrs:
            new.attrs.create(name, old.attrs[name], dtype=old.attrs.get_id(name).dtype)
        for name in ("provenance", "unaudited", "names"):
            old.copy(name, new)
        new.create_group("jobs", track_order=True)
        rows_of = rows_of_first(old)
        for name, main in MAIN_DIMENSION.items():
            group = new.create_group(name, track_order=True)
            copy_rows(old[name], group, GPUS_PER_NODE, main, rows_of)


def rows_by_job(file):
    """Rows of /findings of each job, by its name."""
    texts = read_names(file)
    outcomes = {name: file["outcomes"][name][:] for name in ("job", "finding_offset", "finding_length")}
    rows = {}
    for job, first, count in zip(*outcomes.values()):
        rows.setdefault(texts[job], []).append(numpy.arange(first, first + count, dtype="i8"))
    return {job: numpy.concatenate(parts) for job, parts in rows.items()}


def disturb(file, rows, kinds, draw):
    """Noise on every continuous number and on the elements of every map in these rows of /findings."""
    findings = file["findings"]
    texts = read_names(file)
    kind = numpy.array([kinds.get(texts[name], "") for name in findings["metric"][:][rows]])
    number = findings["number"][:]
    noisy = number[rows] * (1 + NOISE * draw.standard_normal(len(rows)))
    number[rows] = numpy.where(kind == "continuous", noisy, number[rows])
    put(findings, "number", number)
    values = findings["vector_values"][:]
    offsets, lengths = findings["vector_offset"][:], findings["vector_length"][:]
    units = findings["unit"][:]
    for row in rows[(kind == "fingerprint") & (lengths[rows] > 0)]:
        if texts[units[row]] in ("", "1"):
            continue  # numbers of units, not measurements
        part = slice(int(offsets[row]), int(offsets[row] + lengths[row]))
        values[part] *= 1 + NOISE * draw.standard_normal(int(lengths[row]))
    put(findings, "vector_values", values)


def write_noisy_template(template, target, seed, kinds):
    shutil.copyfile(template, target)
    draw = numpy.random.default_rng(seed)
    with open_file(target, "r+") as file:
        for rows in rows_by_job(file).values():
            disturb(file, rows, kinds, draw)


def write_node(target, node, template, kinds):
    """@returns the UUIDs of the GPUs that got a fault"""
    shutil.copyfile(template, target)
    draw = numpy.random.default_rng([1, node])
    names = [f"GPU-{uuid.UUID(bytes=draw.bytes(16))}" for _ in range(GPUS_PER_NODE)]
    first = node * GPUS_PER_NODE
    with open_file(target, "r+") as file:
        devices = file["devices"]
        put(devices, "uuid", add_names(file, names))
        put(devices, "node", numpy.repeat(add_names(file, [f"node{node:05}"]), GPUS_PER_NODE))
        put(devices, "rank", numpy.arange(first, first + GPUS_PER_NODE, dtype="i4"))
        job, metric = FAULT_METRIC
        own = rows_by_job(file)[job]
        disturb(file, own, kinds, draw)
        findings = file["findings"]
        name = read_names(file).index(metric)
        rows = own[findings["metric"][:][own] == name]
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
