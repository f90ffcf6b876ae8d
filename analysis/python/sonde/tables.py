"""The tables of a run file (docs/file-format.md) as numpy arrays."""
import contextlib

import h5py
import numpy as np

SCHEMA_VERSION = 1


def open_run(path):
    """Opens a run file.

    Raises OSError if it cannot be opened, ValueError if it is no run file of this schema.
    """
    file = h5py.File(path, "r")
    version = file.attrs.get("sonde_schema_version")
    if version != SCHEMA_VERSION:
        file.close()
        raise ValueError(f"{path}: schema version {version}, known is {SCHEMA_VERSION} "
                         "(numbers would be misread) use the package of that sonde")
    if "parts" in file:
        file.close()
        raise ValueError(f"{path}: a shard, job by job; run: sonde merge {path} -o run.h5")
    return file


def opened(run):
    """A context with the open file. A path is opened and closed; an open file stays open."""
    return contextlib.nullcontext(run) if isinstance(run, h5py.Group) else open_run(run)


def names_of(group):
    """The texts for the columns of this group: the nearest /names, in the group or above it."""
    while "names" not in group and group.name != "/":
        group = group.parent
    if "names" not in group:
        return np.empty(0, object)
    names = group["names"]
    held = names["text_bytes"][()].tobytes()
    begins = names["text_offset"][()].astype(np.int64)
    ends = begins + names["text_length"][()].astype(np.int64)
    texts = np.empty(len(begins), object)
    texts[:] = [held[begin:end].decode() for begin, end in zip(begins, ends)]
    return texts


def read_table(group, dimension, rows=slice(None)):
    """Columns over a dimension of a group, all rows or a slice, as {name: array}; texts as str."""
    scale, names, table = group[dimension], None, {}
    for name, dataset in group.items():
        if name == dimension or not isinstance(dataset, h5py.Dataset) or not dataset.dims:
            continue
        if len(dataset.dims[0]) == 0 or dataset.dims[0][0] != scale:
            continue
        table[name] = dataset[rows]
        if dataset.attrs.get("units") == "":
            names = names_of(group) if names is None else names
            table[name] = names[table[name]]
    return table


def rows_of(begins, lengths):
    """The rows of several ranges, one range after the other."""
    begins, lengths = (np.asarray(numbers).astype(np.int64) for numbers in (begins, lengths))
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(begins - before, lengths)


def owners_of_rows(table, name, count):
    """For each of `count` rows of another table, the row of `table` that owns it, or -1."""
    lengths = table[f"{name}_length"].astype(np.int64)
    owners = np.full(count, -1)
    owners[rows_of(table[f"{name}_offset"], lengths)] = np.repeat(np.arange(len(lengths)), lengths)
    return owners


def units_of(group, dimension):
    """{column: unit} of the columns over a dimension that have a unit other than 1."""
    scale = group[dimension]
    return {name: dataset.attrs["units"] for name, dataset in group.items()
            if name != dimension and isinstance(dataset, h5py.Dataset) and dataset.dims
            and len(dataset.dims[0]) > 0 and dataset.dims[0][0] == scale
            and dataset.attrs.get("units") not in ("", "1", None)}


def ragged_rows(group, table, rows, name, column):
    """For each of `rows`, its values column[offset : offset + length]; integers become 64-bit.

    Reads from the first to the last value at once, since rows of one device lie together.
    """
    begins = table[f"{name}_offset"][rows].astype(np.int64)
    lengths = table[f"{name}_length"][rows].astype(np.int64)
    used = lengths > 0
    if not used.any():
        return [np.empty(0, np.int64)] * len(rows)
    first = int(begins[used].min())
    held = group[column][first : int((begins + lengths)[used].max())]
    if held.dtype.kind in "iu":
        held = held.astype(np.int64)
    return [held[b - first : b - first + n] if n else held[:0] for b, n in zip(begins, lengths)]


def text_attributes(group):
    """The attributes of a group; HDF5 texts of fixed length become str."""
    return {name: value.decode() if isinstance(value, bytes) else value
            for name, value in group.attrs.items()}
