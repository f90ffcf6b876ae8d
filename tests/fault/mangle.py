"""Ways to spoil a run file or shard that must hold in every command; wrong types and shapes are tests of the store
(HostileFileTest). Each takes the path and a random.Random, and changes the file."""
import h5py
import numpy as np

SECRET = "/etc/passwd"
HOSTILE_TEXTS = [
    b"=cmd|' /C calc'!A0", b"@SUM(A1:A9)", b"+1+1", b"-2+3", b"\t=1+1", b"\r=1+1", b'=1,"a"\n=2',
    b"<script>alert(1)</script>", b"<img src=x onerror=alert(1)>", b"</script><img src=x>",
    b"<!--<script>", b"]]><x/>", b"a\n# heading\n\n[click](http://evil.example/x)", b"a|b|c\n|d|",
    b"``` x ```", b"`whoami`", b"$(reboot); rm -rf /", b"n1 -oProxyCommand=x", b"\x1b[2J\x1b]0;x\x07",
    b"\x01\x02\x0b\x0c\x7f", b"\xc2\x9b31m", b"\xff\xfe\xf6", b"\xe2\x80\xaegnp.exe", b"\xed\xa0\x80",
    b'"} 1\nsonde_fake 1', b"\\", b"'", b"a" * 5000, b"-rf", b"%s%n{}{0}", b"\xef\xbf\xbe"]
HOSTILE_NUMBERS = [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, 0.0, -1.0, 1e18]
HOSTILE_WHOLES = [0, 1, -1, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 7]


def columns(file):
    found = []
    file.visititems(lambda name, thing: found.append(name) if isinstance(thing, h5py.Dataset) else None)
    return found


def replace(file, name, **how):
    del file[name]
    return file.create_dataset(name, **how)


# --- bytes ---------------------------------------------------------------------------------------

def raw(work):
    def change(path, rng):
        data = bytearray(path.read_bytes())
        path.write_bytes(work(data, rng))
    change.__name__ = work.__name__
    return change


@raw
def flip_bits(data, rng):
    for _ in range(rng.choice([1, 1, 3, 40])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


@raw
def truncate(data, rng):
    return data[:rng.randrange(len(data))]


# --- structure -----------------------------------------------------------------------------------

def with_h5py(work):
    def change(path, rng):
        with h5py.File(path, "r+", libver=("v108", "latest")) as file:
            work(file, rng)
    change.__name__ = work.__name__
    return change


@with_h5py
def huge_claim(file, rng):
    name = rng.choice(columns(file))
    group = file[name].parent
    rows = rng.choice([2**45, 2**33, 2**63 - 1, 2**28])
    kind = rng.choice([file[name].dtype, np.dtype("u8"), np.dtype("S100000")])
    how = rng.choice([{}, {"chunks": (65536,)}, {"chunks": (1000,), "compression": 9}, {"chunks": (2**20,)},
                      {"maxshape": (None,), "chunks": (64,)}])
    names = [key for key in group if isinstance(group.get(key), h5py.Dataset)]
    for key in names if rng.random() < 0.5 else [name.split("/")[-1]]:
        try:
            its = group[key].dtype if rng.random() < 0.8 else kind
            constant = {"fillvalue": np.ones((), its)[()]} if rng.random() < 0.3 else {}
            replace(group, key, shape=(rows,), dtype=its, **how, **constant)
        except (ValueError, OSError, RuntimeError):
            pass  # h5py refuses some sums of sizes


@with_h5py
def bomb(file, rng):
    group = file["unaudited"]
    for key in ("node", "uuid"):
        replace(group, key, data=np.zeros(rng.choice([10**6, 10**8]), "u4"), chunks=(10**6,), compression=9)
    replace(group, "unaudited", shape=group["node"].shape, dtype="u1")


@with_h5py
def values_elsewhere(file, rng):
    name = rng.choice(columns(file))
    old = file[name]
    shape, kind = old.shape, old.dtype
    if shape[0] == 0:
        return
    del file[name]
    if rng.random() < 0.5:
        file.create_dataset(name, shape=shape, dtype=kind, external=[(SECRET, 0, h5py.h5f.UNLIMITED)])
    else:
        layout = h5py.VirtualLayout(shape=shape, dtype=kind)
        layout[:] = h5py.VirtualSource(rng.choice([".", "other.h5", "/dev/zero"]), name, shape=shape)
        file.create_virtual_dataset(name, layout)


@with_h5py
def link_elsewhere(file, rng):
    names = []
    file.visit(names.append)
    name = rng.choice(names)
    target = rng.choice(names)
    del file[name]
    link = rng.choice([h5py.SoftLink("/" + target), h5py.SoftLink("/" + name),
                       h5py.ExternalLink("other.h5", "/" + name), h5py.ExternalLink(SECRET, "/"),
                       h5py.ExternalLink("/dev/zero", "/")])
    file[name] = link


# --- values --------------------------------------------------------------------------------------

@with_h5py
def bad_offsets(file, rng):
    ranges = [name for name in columns(file)
              if name.endswith(("_offset", "_length", "_index", "position")) and file[name].shape[0]]
    for name in rng.sample(ranges, min(len(ranges), rng.choice([1, 2, 10]))):
        values = file[name][...].astype(np.uint64) if file[name].dtype.itemsize == 8 else file[name][...]
        for i in range(len(values)):
            if rng.random() < 0.5:
                value = rng.choice([0, 1, 5, 2**20, 2**32, 2**63, 2**64 - 1, rng.randrange(2**64)])
                values[i] = value % 2**(8 * values.dtype.itemsize)
        replace(file, name, data=values)


@with_h5py
def hostile_numbers(file, rng):
    numbers = [name for name in columns(file) if file[name].dtype.kind in "uif" and file[name].shape[0]
               and not name.endswith(("_offset", "_length", "_index"))]
    for name in rng.sample(numbers, min(len(numbers), rng.choice([1, 5, 60]))):
        values = file[name][...]
        for i in range(len(values)):
            if values.dtype.kind == "f":
                values[i] = rng.choice(HOSTILE_NUMBERS)
            else:
                bits = 8 * values.dtype.itemsize
                whole = rng.choice(HOSTILE_WHOLES) % 2**bits
                values[i] = whole - 2**bits if values.dtype.kind == "i" and whole >= 2**(bits - 1) else whole
        replace(file, name, data=values)


@with_h5py
def hostile_texts(file, rng):
    """Names are texts of any length: some are replaced, most of those that are states are not."""
    for group in (file, file.get("analysis")):
        names = group.get("names") if isinstance(group, h5py.Group) else None
        if not isinstance(names, h5py.Group) or "text_bytes" not in names:
            continue
        held = names["text_bytes"][()].tobytes()
        begins = names["text_offset"][()].astype(int)
        own = [held[at:at + size] for at, size in zip(begins, names["text_length"][()].astype(int))]
        states = rng.random() < 0.2
        words = [rng.choice(HOSTILE_TEXTS) if rng.random() < 0.3 and (states or not text.isalpha()) else text
                 for text in own]
        sizes = np.array([*map(len, words)], np.uint32)
        replace(file, names.name + "/text_length", data=sizes)
        replace(file, names.name + "/text_offset", data=(np.cumsum(sizes) - sizes).astype(np.uint64))
        replace(file, names.name + "/text_bytes", data=np.frombuffer(b"".join(words), np.uint8))
        del names["text_byte"]
        names.create_dataset("text_byte", data=np.zeros(int(sizes.sum()), np.uint8))
    attributes = file["provenance"].attrs
    for name in attributes:
        if isinstance(attributes[name], bytes) and rng.random() < 0.5:
            word = rng.choice(HOSTILE_TEXTS)
            attributes.create(name, word, dtype=h5py.string_dtype("utf-8", len(word)))


ALL = [flip_bits, truncate, huge_claim, bomb, values_elsewhere, link_elsewhere, bad_offsets,
       hostile_numbers, hostile_texts]
