"""The quickest proof that this tree's zephyr imports, plans a pipeline, and routes records as it always did."""

import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SOURCE))

import zephyr  # noqa: E402
from zephyr import Dataset, compute_plan  # noqa: E402
from zephyr.shard_keys import composite_sort_key, deterministic_hash  # noqa: E402


class Smoke(unittest.TestCase):
    def test_zephyr_is_this_trees(self):
        self.assertEqual(Path(zephyr.__file__), SOURCE / "zephyr" / "__init__.py")

    def test_group_by_plans_a_scatter_and_a_reduce(self):
        grouped = Dataset.from_list([1, 2, 3]).group_by(lambda n: n % 2, reducer=lambda key, same: sum(same))
        self.assertEqual(len(compute_plan(grouped).stages), 2)

    def test_keys_hash_alike_whatever_the_order_of_a_mapping(self):
        self.assertEqual(deterministic_hash({"a": 1, "b": 2}), deterministic_hash({"b": 2, "a": 1}))

    def test_records_sort_by_group_then_by_the_second_key(self):
        key = composite_sort_key(lambda pair: pair[0], lambda pair: pair[1])
        self.assertEqual(sorted([(2, 1), (1, 2), (1, 1)], key=key), [(1, 1), (1, 2), (2, 1)])


if __name__ == "__main__":
    unittest.main()
