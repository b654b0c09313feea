"""Programs with a mistake in them: each must end with status 1, name the mistake, print no rate."""

import unittest

from harness import EMULATED, FAILED, ProgramTest, run


class Defects(ProgramTest):
    def assertCaught(self, program: str, *words: str, environment=None):
        result = run(program, environment=environment)
        self.assertRefused(result, FAILED, *words)
        return result

    # Failed launches.

    def test_block_too_large(self):
        self.assertCaught("saxpy_block_too_large", "kernel launch", "1024 threads a block")

    # Wrong results.

    def test_tail_dropped(self):
        result = self.assertCaught("saxpy_drops_tail", "float4: FAIL", "n = 1,", "y[0]")
        self.assertIn("scalar=PASS, grid_stride=PASS, float4=FAIL", result.out)

    def test_not_a_number_never_passes(self):
        self.assertCaught("saxpy_not_a_number", "scalar: FAIL", "nan")

    def test_write_beyond_the_end(self):
        self.assertCaught("saxpy_writes_beyond", "grid_stride: FAIL", "y[1]")

    def test_wrong_divisor_at_the_edge(self):
        self.assertCaught("blur_wrong_divisor", "tiled: FAIL", "pixel (0, 0)")

    def test_tile_without_its_last_column(self):
        self.assertCaught("blur_tile_too_narrow", "tiled: FAIL", "pixel (3, 0)")

    def test_last_row_dropped(self):
        # 769 rows are 48 whole blocks and one row.
        self.assertCaught("blur_drops_last_row", "direct: FAIL", "pixel (0, 768)")

    def test_merge_of_half_the_bins(self):
        self.assertCaught("histogram_merges_half", "block: FAIL", "bin ")

    def test_lost_additions(self):
        self.assertCaught("histogram_loses_additions", "global: FAIL", "bin ")

    def test_last_block_dropped(self):
        self.assertCaught("sum_of_whole_blocks", "FAIL")

    def test_sum_too_narrow(self):
        self.assertCaught("sum_in_bytes", "sum: FAIL", "sum of the pixels")

    # Missing barriers: on a GPU they show by luck, on the emulator for certain in a suitable order.

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_missing_barriers(self):
        every_order = ("forward", "reverse", "random:1", "random:2")
        for program, word, orders in (
            ("blur_without_barrier", "tiled: FAIL", every_order),
            ("histogram_without_first_barrier", "block: FAIL", every_order),
            # From the last thread to the first, each finds what it needs done already.
            ("sum_without_barrier", "sum: FAIL", ("forward", "random:1", "random:2")),
        ):
            for order in orders:
                with self.subTest(program=program, order=order):
                    self.assertCaught(program, word, environment={"EMULATOR_ORDER": order})

    # Right when checked, wrong when timed.

    def test_work_in_another_stream_than_the_events(self):
        self.assertCaught("saxpy_wrong_stream", "stream")

    def test_work_left_out_while_timed(self):
        result = self.assertCaught("saxpy_stops_working_when_timed", "FAIL", "y[")
        self.assertIn("scalar=PASS, grid_stride=PASS, float4=PASS", result.out)


if __name__ == "__main__":
    unittest.main()
