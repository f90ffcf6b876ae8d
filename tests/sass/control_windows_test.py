"""The checks of control flow must see what the compiler could do to the kernels."""

import unittest

import control_windows
from listings import CheckTest, faults_by, line, loops_of


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


class ControlWindowsTest(CheckTest):
    def test_branches_jump_over_paths_that_are_alone_and_unlike(self):
        right = chain_of_paths()
        fifth, last = "IMAD R0, R0, R0, 0x5 ", "IMAD R0, R0, R0, 0x64 ;"
        self.expect(faults_by(control_windows.check_branches, "branch_kernelILNS0_6BranchE1E"), [(right,)], {
            "a lost path": (chain_of_paths(paths=31),), "folded operations": (chain_of_paths(operations=15),),
            "paths that are alike": (chain_of_paths(alike=True),),
            "branches the other way": (chain_of_paths(inverted=True),),
            "a predicated path": (right.replace(fifth, "@P1 " + fifth),),
            "a store in a path": (right.replace(last, last + "\n /*0ff8*/ STS [R8], R0 ;"),)})

    def test_each_level_of_a_nest_has_a_join_and_operations_of_its_own(self):
        self.expect(faults_by(control_windows.check_nest, "nested_kernelILi1E"), [(nest_of_one(),)], {
            "no join": (nest_of_one(joined=False),), "operations that are alike": (nest_of_one(around=("0xc9", "0xc9")),),
            "sides the other way": (nest_of_one(swapped=True),), "a level too few": (nest_of_one(), "nested_kernelILi2E")})

    def test_barriers_stand_in_a_row(self):
        right, name = loops_of(["BAR.SYNC.DEFER_BLOCKING 0x0"] * 16), "barrier_kernelILNS0_12BlockBarrierE{}E"
        self.expect(faults_by(control_windows.check_barriers, name.format(0)), [(right,)], {
            "another barrier": (right, name.format(1)),
            "merged ones": (loops_of(["BAR.SYNC.DEFER_BLOCKING 0x0"] * 15),)})

    def test_a_clock_read_follows_each_barrier(self):
        pair = ("BAR.SYNC.DEFER_BLOCKING 0x0", "CS2R R4, SR_CLOCKLO")
        right = loops_of(pair * 16)
        self.expect(faults_by(control_windows.check_barriers, "barrier_kernelILNS0_12BlockBarrierE2E"), [(right,)], {
            "removed reads": (loops_of(pair[:1] * 16),), "additions": (loops_of((pair + ("IADD3 R6, R6, R4, RZ",)) * 16),),
            "a read before": (loops_of(pair[::-1] * 16),)})

    def test_a_sleep_is_alone_in_its_window(self):
        sleep, begin, end = "NANOSLEEP R0", "CS2R R2, SR_CLOCKLO", "CS2R R4, SR_CLOCKLO"
        self.expect(faults_by(control_windows.check_sleep, "sleep_kernel"),
                    [(line(0, begin) + line(16, sleep) + line(32, end),)],
                    {"a sleep before it": (line(0, sleep) + line(16, begin) + line(32, end),)})

    def test_blocks_load_nothing_before_their_wait(self):
        loads = "".join(line(16 * i, f"LDG.E.STRONG.GPU R{i}, desc[UR4][R8.64]") for i in range(5))
        uses = "".join(line(0x200 + 16 * i, f"IMAD R9, R9, R{i}, R{i}") for i in range(5))
        wait = line(0x80, "NANOSLEEP 0x1f4")
        self.expect(faults_by(control_windows.check_occupancy, "occupancy_kernelILi5E"), [(wait + loads + uses,)],
                    {"loads before": (loads + wait + uses,), "registers that nobody uses": (wait + loads,)})

    def test_barriers_of_a_diverged_warp_are_not_predicated(self):
        right = line(0, "LDS R0, [R2]") + line(16, "@P0 BRA 0x0") + "".join(
            line(at, "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40") for at in (32, 48))
        self.expect(faults_by(control_windows.check_waits, "wait_kernelILNS0_4WaitE3E"), [(right,)],
                    {"a predicate": (right.replace("BAR.SYNC", "@P1 BAR.SYNC", 1),)})


if __name__ == "__main__":
    unittest.main()
