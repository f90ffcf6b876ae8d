"""The checks of control flow must see what the compiler could do to the kernels."""

import unittest

import control_windows
import sass_windows


def line(address, text):
    return f"        /*{address:04x}*/                   {text} ;\n"


def chain_of_paths(paths=32, operations=16, alike=False, inverted=False):
    """A listing as ptxas makes it: each condition jumps over its path, all paths end at one join."""
    body = ""
    address = 0x110
    length = 16 * (operations + 5)
    join = address + paths * length
    for path in range(paths):
        target = join - 0x10 if inverted else address + length
        body += line(address, f"LOP3.LUT P2, RZ, R10, UR{path}, RZ, 0xc0, !PT")
        body += line(address + 0x10, f"@!P2 BRA 0x{target:x}")
        body += line(address + 0x20, "CS2R R6, SR_CLOCKLO")
        for operation in range(operations):
            constant = operation if alike else 100 * path + operation
            body += line(address + 0x30 + 16 * operation, f"IMAD R0, R0, R0, 0x{constant:x}")
        body += line(address + 0x30 + 16 * operations, "CS2R R8, SR_CLOCKLO")
        body += line(address + 0x40 + 16 * operations, f"BRA 0x{join:x}")
        address += length
    return line(0x100, f"BSSY B0, 0x{join + 16:x}") + body + line(join, "BSYNC B0") + line(join + 16, "EXIT")


def faults(listing, name="branch_kernelILNS0_6BranchE1E", check=control_windows.check_branches):
    return check(name, sass_windows.parse("Function : f\n" + listing)["f"])


def nest_of_one(around=("0xc9", "0x12d"), joined=True, swapped=False):
    """A listing as ptxas makes it of a nest one level deep."""
    body = [f"IMAD R6, R6, R6, {around[0]}", "BSSY B0, 0x1000", "@!P2 BRA 0x800"]
    for path in ((0, 1) if swapped else (1, 0)):
        body.append("CS2R R10, SR_CLOCKLO")
        body += [f"IMAD R6, R6, R6, 0x{constant + 2 * path:x}" for constant in (1, 101)] * 8
        body.append("CS2R R12, SR_CLOCKLO")
        body.append("BRA 0xf00" if path != 0 else "NOP")
    body += ["BSYNC B0"] if joined else []
    body.append(f"IMAD R6, R6, R6, {around[1]}")
    inner = "".join(line(0x110 + 16 * n, text) for n, text in enumerate(body))
    return line(0x100, "CS2R R4, SR_CLOCKLO") + inner + line(0x2000, "CS2R R8, SR_CLOCKLO")


def loops_of_barriers(barrier, count=16):
    text = ""
    address = 0
    for _ in range(3):
        head = address
        text += line(address, "CS2R R2, SR_CLOCKLO")
        for _ in range(count):
            address += 16
            text += line(address, barrier)
        address += 16
        text += line(address, f"@P0 BRA 0x{head + 16:x}")
        address += 16
    return text


class ControlWindowsTest(unittest.TestCase):
    def test_right_chain_passes(self):
        self.assertEqual(faults(chain_of_paths()), [])

    def test_lost_path_fails(self):
        self.assertTrue(faults(chain_of_paths(paths=31)))

    def test_folded_operations_fail(self):
        self.assertTrue(faults(chain_of_paths(operations=15)))

    def test_paths_that_are_alike_fail(self):
        self.assertTrue(faults(chain_of_paths(alike=True)))

    def test_branches_the_other_way_fail(self):
        self.assertTrue(faults(chain_of_paths(inverted=True)))

    def test_predicated_path_fails(self):
        self.assertTrue(faults(chain_of_paths().replace("IMAD R0, R0, R0, 0x5 ", "@P1 IMAD R0, R0, R0, 0x5 ")))

    def test_store_in_a_path_fails(self):
        self.assertTrue(faults(chain_of_paths().replace(
            "IMAD R0, R0, R0, 0x64 ;", "IMAD R0, R0, R0, 0x64 ;\n /*0ff8*/ STS [R8], R0 ;")))

    def test_nest_with_joins_passes_and_others_fail(self):
        def nest_faults(listing):
            return faults(listing, "nested_kernelILi1E", control_windows.check_nest)
        self.assertEqual(nest_faults(nest_of_one()), [])
        self.assertTrue(nest_faults(nest_of_one(joined=False)))
        self.assertTrue(nest_faults(nest_of_one(around=("0xc9", "0xc9"))))
        self.assertTrue(nest_faults(nest_of_one(swapped=True)))
        self.assertTrue(faults(nest_of_one(), "nested_kernelILi2E", control_windows.check_nest))

    def test_barriers_in_a_row_pass_and_others_fail(self):
        check = control_windows.check_barriers
        right = loops_of_barriers("BAR.SYNC.DEFER_BLOCKING 0x0")
        self.assertEqual(faults(right, "barrier_kernelILNS0_12BlockBarrierE0E", check), [])
        self.assertTrue(faults(right, "barrier_kernelILNS0_12BlockBarrierE1E", check))
        merged = loops_of_barriers("BAR.SYNC.DEFER_BLOCKING 0x0", 15)
        self.assertTrue(faults(merged, "barrier_kernelILNS0_12BlockBarrierE0E", check))

    def test_sleep_alone_in_its_window_passes(self):
        right = line(0, "CS2R R2, SR_CLOCKLO") + line(16, "NANOSLEEP R0") + line(32, "CS2R R4, SR_CLOCKLO")
        moved = line(0, "NANOSLEEP R0") + line(16, "CS2R R2, SR_CLOCKLO") + line(32, "CS2R R4, SR_CLOCKLO")
        self.assertEqual(faults(right, "sleep_kernel", control_windows.check_sleep), [])
        self.assertTrue(faults(moved, "sleep_kernel", control_windows.check_sleep))

    def test_loads_before_the_wait_of_a_block_fail(self):
        loads = "".join(line(16 * i, f"LDG.E.STRONG.GPU R{i}, desc[UR4][R8.64]") for i in range(5))
        uses = "".join(line(0x200 + 16 * i, f"IMAD R9, R9, R{i}, R{i}") for i in range(5))
        wait = line(0x80, "NANOSLEEP 0x1f4")
        name = "occupancy_kernelILi5E"
        self.assertEqual(faults(wait + loads + uses, name, control_windows.check_occupancy), [])
        self.assertTrue(faults(loads + wait + uses, name, control_windows.check_occupancy))
        self.assertTrue(faults(wait + loads, name, control_windows.check_occupancy))

    def test_predicated_barrier_of_a_diverged_warp_fails(self):
        spin = line(0, "LDS R0, [R2]") + line(16, "@P0 BRA 0x0")
        right = spin + line(32, "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40") + line(48, "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40")
        name = "wait_kernelILNS0_4WaitE3E"
        self.assertEqual(faults(right, name, control_windows.check_waits), [])
        self.assertTrue(faults(right.replace("BAR.SYNC", "@P1 BAR.SYNC", 1), name, control_windows.check_waits))

    def test_missing_kernels_are_told(self):
        self.assertTrue(control_windows.check_functions({}))


if __name__ == "__main__":
    unittest.main()
