"""All places that name the version name the same: versions_test.py <source folder> <version of CMake>"""
import pathlib
import re
import sys

root, version = pathlib.Path(sys.argv[1]), sys.argv[2]
places = {
    "analysis/python/pyproject.toml": r'^version = "([^"]*)"',
    "CITATION.cff": r"^version: (\S+)",
    f"docs/releases/{version}.md": r"^# sonde (\S+)",
}
faults = []
for path, pattern in places.items():
    text = (root / path).read_text() if (root / path).exists() else ""
    found = re.search(pattern, text, re.M)
    if found is None or found.group(1) != version:
        faults.append(f"{path}: {found.group(1) if found else 'names no version'}, CMakeLists.txt: {version}")
print("\n".join(faults) or f"all name {version}")
sys.exit(bool(faults))
