"""What the tests of the checks share: listings as cuobjdump prints them, and cases of what a check must see."""

import unittest

import sass_windows


def line(address, text):
    return f"        /*{address:04x}*/                   {text} ;\n"


def code_of(listing):
    return sass_windows.parse("Function : f\n" + listing)["f"]


def loops_of(row, count=3):
    """Loops of these instructions, a clock read in front of each."""
    text = ""
    for _ in range(count):
        address = 16 * text.count("\n")
        inside = "".join(line(address + 16 * at, instruction) for at, instruction in enumerate(row, 1))
        text += line(address, "CS2R R2, SR_CLOCKLO") + inside
        text += line(address + 16 * (len(row) + 1), f"@P0 BRA 0x{address + 16:x}")
    return text


def faults_by(check, of=None):
    """@param of the kernel, if a case does not name another"""
    return lambda listing, name=of: check(name, code_of(listing))


def moved(listing, *order):
    """The lines of a listing in another order."""
    lines = listing.strip("\n").split("\n")
    return "\n".join([lines[at] for at in order] + lines[len(order):])


class CheckTest(unittest.TestCase):
    def expect(self, faults_of, right, wrong):
        """@param right that has no faults @param wrong {what is wrong: arguments of faults_of}"""
        for case in right:
            self.assertEqual(faults_of(*case), [])
        for what, case in wrong.items():
            with self.subTest(what):
                self.assertTrue(faults_of(*case))
