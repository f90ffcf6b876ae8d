"""Makes the run file of docs/tour.md from a whole one: PYTHONPATH=analysis/python make_file.py <run.h5> <out.h5>

All findings stay. Of the probes, those of KEPT stay, with everything that they recorded. The format is
docs/file-format.md: offsets and rows of /names are numbered anew.
"""
import re
import sys

import h5py
import numpy as np

from sonde.tables import names_of, open_run, owners_of_rows, read_table, rows_of

# Job, pattern of the labels, how many probes of each label.
KEPT = [("cache.l1", r"cache\.l1 coarse \d+ step 128", 1),
        ("cache.l1", r"cache\.l1 size (246784|246912) step 128", 12),
        ("cache.l1", r"cache\.l1 replacement", 4),
        ("tlb", r"tlb span (134217728|268435456|536870912) step 262144", 1),
        ("tlb", r"tlb span (34359738368 step 2097152|68719476736 step 4194304|137438953472 step 8388608)", 1),
        ("slices", r"slices: page 0 alone", 1),
        ("slices", r"slices: page 0, reductions on 0x9f00", 1),
        ("placement", r"L2 by SM, pass 0", 1)]
CHUNK_ROWS = 65536  # most that the format allows


def kept_probes(file):
    """The rows of /probes that KEPT names, ascending."""
    outcomes, labels = read_table(file["outcomes"], "outcome"), read_table(file["probes"], "probe")["label"]
    jobs = outcomes["job"][owners_of_rows(outcomes, "probe", len(labels))]
    rows = []
    for job, pattern, count in KEPT:
        found = {}
        for row in np.flatnonzero(jobs == job):
            if re.fullmatch(pattern, labels[row]):
                found.setdefault(labels[row], []).append(row)
        rows += [row for of_label in found.values() for row in of_label[:count]]
    return np.sort(rows)


def begins(lengths):
    """Where ranges of these lengths begin if each follows the one before it."""
    return np.cumsum(lengths) - lengths


def select(file):
    """What the kept probes decide: {dimension: rows that stay}, {path of a column: its new values}."""
    outcomes, probes, traces = file["outcomes"], file["probes"], file["traces"]
    probe = kept_probes(file)
    owners = owners_of_rows(read_table(outcomes, "outcome"), "probe", len(probes["label"]))[probe]
    counts = np.bincount(owners, minlength=len(outcomes["job"]))
    rows = {"probe": probe}
    columns = {"outcomes/probe_length": counts, "outcomes/probe_offset": begins(counts)}

    def of_probes(name):
        return probes[name][()][probe].astype(np.int64)

    lanes = of_probes("lane_length")
    for name, dimension in (("lane", "lane"), ("repeat", "repeat"), ("long", "long_window")):
        rows[dimension] = rows_of(of_probes(f"{name}_offset"), of_probes(f"{name}_length"))
        columns[f"probes/{name}_offset"] = begins(of_probes(f"{name}_length"))
    owner_of_lane = np.repeat(np.arange(len(probe)), lanes)
    for name in ("window", "bin", "clock", "timer", "count"):
        lengths = np.bincount(owner_of_lane, traces[f"{name}_length"][()][rows["lane"]], len(probe)).astype(np.int64)
        rows[name] = rows_of(of_probes(f"{name}_offset"), lengths)
        columns[f"probes/{name}_offset"] = begins(lengths)
    rows["list"], columns["traces/list_index"] = np.unique(traces["list_index"][()][rows["lane"]], return_inverse=True)
    lengths = traces["visit_length"][()][rows["list"]].astype(np.int64)
    rows["visit"] = rows_of(traces["visit_offset"][()][rows["list"]], lengths)
    columns["traces/visit_offset"] = begins(lengths)
    return rows, columns


def columns_of(file):
    """[(path, dataset, name of its dimension)] of all columns."""
    found = []
    file.visititems(lambda path, item: found.append((path, item, item.dims[0][0].name.rsplit("/", 1)[1]))
                    if isinstance(item, h5py.Dataset) and item.attrs.get("CLASS") != b"DIMENSION_SCALE" else None)
    return found


def renumber_names(file, values):
    """Gives /names only the texts that columns outside /analysis use; changes these columns in `values`."""
    texts = [path for path, column, _ in columns_of(file)
             if column.attrs["units"] == "" and not path.startswith("analysis")]
    used, numbers = np.unique(np.concatenate([values[path] for path in texts]), return_inverse=True)
    ends = np.cumsum([len(values[path]) for path in texts])[:-1]
    values.update(zip(texts, np.split(numbers, ends)))
    words = [text.encode() for text in names_of(file)[used]]
    lengths = np.array([len(word) for word in words])
    values.update({"names/text_length": lengths, "names/text_offset": begins(lengths),
                   "names/text_bytes": np.frombuffer(b"".join(words), np.uint8)})


def copy_attributes(source, target):
    for name in source.attrs:
        if name not in ("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"):
            target.attrs.create(name, source.attrs[name], dtype=source.attrs.get_id(name).dtype)


def write(source, target, values):
    """Copies all groups and columns, with these values; each dimension gets the length of its columns."""
    copy_attributes(source, target)
    source.visititems(lambda path, item: copy_attributes(item, target.require_group(path))
                      if isinstance(item, h5py.Group) else None)
    for path, column, dimension in columns_of(source):
        data = np.asarray(values[path]).astype(column.dtype)
        packed = {"chunks": (min(len(data), CHUNK_ROWS),), "compression": 9 if column.compression else None,
                  "shuffle": column.shuffle, "fletcher32": column.fletcher32} if len(data) else {}
        written = target.create_dataset(path, data=data, **packed)
        copy_attributes(column, written)
        group = written.parent
        if dimension not in group:
            scale = group.create_dataset(dimension, (len(data),), np.uint8)
            scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{len(data):10d}")
        written.dims[0].attach_scale(group[dimension])


def main(run, out):
    # Files of HDF5 1.10 have checksums in the indexes of chunks (docs/decisions/0007-checksums.md).
    with open_run(run) as source, h5py.File(out, "w", libver=("v110", "v110")) as target:
        rows, columns = select(source)
        values = {path: columns[path] if path in columns else column[()][rows.get(dimension, slice(None))]
                  for path, column, dimension in columns_of(source)}
        renumber_names(source, values)
        write(source, target, values)


if __name__ == "__main__":
    main(*sys.argv[1:])
