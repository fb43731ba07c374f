"""`make properties`: the whole property run, on all processors, with its histogram."""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.properties.parts import PART, run_part
from tests.properties.tally import Tally


def main() -> int:
    """Run, print, and return 1 if a law is broken or too little was tried."""
    arguments = _arguments()
    started, tally = time.monotonic(), Tally()
    sizes = [min(PART, arguments.prompts - start) for start in range(0, arguments.prompts, PART)]
    seeds = [f"{arguments.seed}.{number}" for number in range(len(sizes))]
    # A process of its own for each part: settings, and the database they name, are read once.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), max_tasks_per_child=1) as pool:
        for part in pool.map(run_part, seeds, sizes):
            tally.merge(part)
            print(f"{tally.built:,} of {arguments.prompts:,} prompts", flush=True)
    print("\n".join([*tally.lines(), *tally.shortcomings()]))
    print(f"seed {arguments.seed}, {time.monotonic() - started:,.0f} s with {os.cpu_count()} processes")
    return 1 if tally.faults or tally.shortcomings() else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description=__doc__)
    parser.add_argument("--prompts", type=int, default=100_000, help="how many prompts to build")
    parser.add_argument("--seed", default="1", help="the same seed gives the same prompts")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
