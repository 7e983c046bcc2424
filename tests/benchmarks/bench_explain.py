"""How long `tpudiag explain` reads lines of any length; no part of the test run.

    python -m tests.benchmarks.bench_explain [BYTES...]

Seconds of a core by the size of a text whose one line repeats what logs are full of.
"""

import sys

from tests.known_errors.test_linear import PIECES, cpu_s

BYTES = (25_000, 100_000, 400_000, 1_600_000)


def main() -> None:
    sizes = [int(each) for each in sys.argv[1:]] or BYTES
    print(f"{'bytes':<22}" + "".join(f"{size:>12,}" for size in sizes))
    for name, piece in PIECES.items():
        taken = (f"{cpu_s(piece, size):>12.2f}" for size in sizes)
        print(f"{name:<22}" + "".join(taken), flush=True)


if __name__ == "__main__":
    main()
