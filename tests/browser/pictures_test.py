#!/usr/bin/env python3
"""The pictures in docs/: small, with a palette, as wide as screenshots.py makes them, and shown."""
import pathlib
import struct
import unittest

import screenshots

MOST_BYTES = 300_000
PALETTE = 3  # PNG specification, colour type


class PicturesTest(unittest.TestCase):
    def test_each_picture_is_small_and_shown(self):
        pages = "".join(page.read_text(encoding="utf-8") for page in screenshots.DOCS.glob("*.md"))
        for name, (width, height, _, _) in screenshots.PICTURES.items():
            with self.subTest(picture=name):
                path = screenshots.DOCS / f"{name}.png"
                data = path.read_bytes()
                self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
                wide, high, _, colour_type = struct.unpack(">IIBB", data[16:26])
                self.assertEqual((wide, high, colour_type), (width, height, PALETTE))
                self.assertLess(len(data), MOST_BYTES)
                self.assertIn(f"]({path.name})", pages)

    def test_no_other_picture_lies_there(self):
        there = {path.stem for path in pathlib.Path(screenshots.DOCS).glob("report*.png")}
        self.assertEqual(there, set(screenshots.PICTURES))


if __name__ == "__main__":
    unittest.main()
