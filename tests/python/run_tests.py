"""run_tests.py <test script> <arguments>...: ends with 77 where Python lacks what the script imports."""
import runpy
import sys

try:
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
except ModuleNotFoundError as error:
    if error.name.split(".")[0] in ("sonde", "tables", "frames", "make_file"):
        raise
    print(f"skipped: {error} (apt: python3-{error.name})")
    sys.exit(77)
