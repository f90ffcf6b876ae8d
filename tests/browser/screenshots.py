#!/usr/bin/env python3
"""Makes the pictures of docs/report.md again: screenshots.py --sonde build/dev/bin/sonde

Measures a fleet of four simulated H200s, one of them slow (a minute or two on four cores), and draws
its report in a headless Chromium. --run FILE takes a run file that is there already. Needs Pillow
(apt: python3-pil).
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import browser

FLEET = "sim:h200,h200,h200,h200+throttle=0.8"
COLOURS = 64  # flat areas and smoothed letters need few; a third of the bytes of true colour
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PICTURES = {  # docs/<name>.png: width px, height px, whether it is dark, what stands at its top
    "report": (1280, 1300, False, None),
    "report-charts": (1280, 1300, False, ".part:has(#staircase)"),
    "report-dark": (1280, 1300, True, ".part:has(#map)"),
    "report-phone": (420, 1000, True, None),
}


def measure(sonde, mpiexec, folder):
    run = [*mpiexec, "-n", "4", str(sonde), "run", "--backend", FLEET, "-o", "run.h5"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 4:  # a device failed its verdict
        sys.exit(f"{' '.join(run)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return folder / "run.h5"


def shrink(path):
    from PIL import Image  # the script's own need: the tests of the report go without
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sonde", type=pathlib.Path, required=True)
    parser.add_argument("--mpiexec", nargs="+", default=["mpirun", "--oversubscribe"])
    parser.add_argument("--run", type=pathlib.Path)
    parser.add_argument("--docs", type=pathlib.Path, default=DOCS, help="where the pictures go")
    options = parser.parse_args()
    chromium = browser.find_chromium()
    if chromium is None:
        sys.exit("no Chromium that starts (it draws the page)")
    sonde = options.sonde.resolve()
    with tempfile.TemporaryDirectory(prefix="sonde-pictures-") as temporary:
        folder = pathlib.Path(temporary)
        run = options.run.resolve() if options.run else measure(sonde, options.mpiexec, folder)
        page = folder / "report.html"
        subprocess.run([str(sonde), "report", str(run), "-o", str(page)], check=True,
                       capture_output=True)
        with browser.Browser(chromium) as window:
            for name, (width, height, dark, top) in PICTURES.items():
                path = options.docs / f"{name}.png"
                window.open(page, width, dark=dark)
                window.screenshot(path, height, top)
                shrink(path)
                print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
