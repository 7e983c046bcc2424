"""The gate without a TPU: `python -m tests.benchmarks.bench_gate [NAME ...]`.

Twelve changes of gate_job.py: `check` of each against that of the job itself must close the gate
where the TPU's program got worse, and name a line that the change touches. The job itself, checked
again and again with an empty cache, must differ by nothing (`--again 10`). The table is in
docs/ci.md.
"""

# mypy: ignore-errors
# pyright: basic
import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

JOB = Path(__file__).with_name("gate_job.py")
LIMIT = "0.5%"
TARGET = "v5e-4"


@dataclass(frozen=True)
class Change:
    """A change of the script, and what the gate must say of it."""

    name: str
    edits: tuple[tuple[str, str], ...] = ()
    figures: tuple[str, ...] = ()
    """One of these must have regressed; none where the gate must stay open."""
    lines: tuple[str, ...] = ()
    """One of these must stand in the line that is named as what grew most."""
    checks: tuple[str, ...] = ()
    """Checks that must fail now: the program is the same, and `--fail-on` decides."""


ACCUMULATED = """\
    parts = [tf.split(each, 4) for each in (ids, labels)]
    gradients = [tf.zeros_like(v) for v in model.trainable_variables]
    for n in range(4):
        loss, new, logits = taken(parts[0][n], parts[1][n])
        gradients = [a + tf.convert_to_tensor(b) / 4 for a, b in zip(gradients, new)]
"""
GATHERED = """\
        context = tf.distribute.get_replica_context()
        losses = losses + 1e-9 * tf.reduce_sum(context.all_gather(logits, axis=0))
"""
UNFUSED = """\
        shares = tf.nn.softmax(logits)
        hot = tf.one_hot(labels, WORDS)
        losses = -tf.math.log(tf.reduce_sum(tf.stop_gradient(hot) * shares, -1) + 1e-9)
"""
LOSS = "        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)\n"
MEMORY, TRAFFIC, CYCLES = "hbm_need_bytes", "hbm_bytes_per_example", "compiler_cycles_per_example"
CHANGES = (
    Change("nothing", (("A small training", "The same small training"),)),
    Change("wider layer", (("Dense(512,", "Dense(1024,"),), ("flops_per_example",),
           ("self.mix(x)", "self.decode(x)")),
    # The MXU takes float32 in one pass of bfloat16 by default, and what lies between stays on the
    # chip: the compiler's program is no worse, and the gate has nothing to close for.
    Change("float32 island", (('Dense(512, activation="relu")',
                               'Dense(512, activation="relu", dtype="float32")'),)),
    Change("extra all-gather", ((LOSS, LOSS + GATHERED),), ("collective_bytes_per_step",),
           ("all_gather", "reduce_sum(context")),
    Change("bias", (("use_bias=False", "use_bias=True"),), (TRAFFIC, CYCLES, MEMORY),
           ("self.encode(x)", "self.normal(x", "apply_gradients")),
    Change("undropped remainder", (("drop_remainder=True", "drop_remainder=False"),),
           (), ("drop_remainder",), ("TPU102",)),
    Change("batch", (("BATCH = 64", "BATCH = 128"),), (MEMORY,), ()),
    Change("unfused loss", ((LOSS, UNFUSED),), (TRAFFIC, CYCLES),
           ("shares", "hot", "tf.math.log", "tf.cast(model")),
    Change("logged activation", (("    return loss\n\n\n@tf", "    return loss, logits\n\n\n@tf"),
                                 ('strategy.reduce("SUM", strategy.run(step, args=(batch,)), '
                                  "axis=None)", "strategy.run(step, args=(batch,))")),
           (MEMORY, TRAFFIC), ("logits", "tf.cast(model", "self.decode(x)")),
    Change("larger vocabulary", (("WORDS, LENGTH = 4096", "WORDS, LENGTH = 8192"),),
           ("flops_per_example",), ("self.decode(x)", "self.table(ids)", "sparse_softmax")),
    Change("gradient accumulation",
           (("    loss, gradients, logits = taken(ids, labels)  # noqa: RUF059\n", ACCUMULATED),),
           (TRAFFIC, CYCLES), ("parts", "taken(", "gradients", "self.", "losses")),
    Change("another optimizer", (("SGD(0.1, momentum=0.9)", "Adam(0.1)"),), (MEMORY, TRAFFIC),
           ("apply_gradients",)),
)  # fmt: skip


def checked(folder: Path, name: str, script: str, cache: str, *more: str) -> tuple[int, dict]:
    """`check` of a script; its exit code and its report."""
    file = folder / f"{name.replace(' ', '-')}.py"
    file.write_text(script, encoding="utf-8")
    report = file.with_suffix(".json")
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "tpudiag", "check", file.name, "--for", TARGET, "--steps", "2",
         "--warmup", "1", "--measure-input", "0", "--first-loop", "-o", report.name, *more],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "TPUDIAG_CACHE": str(folder / cache)},
    )  # fmt: skip
    if not report.exists():
        sys.exit(f"{name}: no report\n{done.stderr}")
    return done.returncode, json.loads(report.read_text(encoding="utf-8"))


def table(report: dict, title: str) -> list[list]:
    """The rows of a report's table; none where it has no such one."""
    return next((each["rows"] for each in report["tables"] if each["title"] == title), [])


def regressed(report: dict) -> set[str]:
    """The figures that got worse by more than the limit, and the checks that now fail."""
    figures = {row[0].split(" ")[0] for row in table(report, "Changes") if row[-1] == "REGRESSED"}
    checks = {row[0] for row in table(report, "Checks that changed") if row[3] == "failed"}
    return figures | checks


def named(folder: Path, report: dict) -> list[str]:
    """The source lines named as what grew, the worst first; of checks that fail now, theirs."""
    places = [row[2] for row in table(report, "What grew in the program")]
    for outcome in report["outcomes"]:
        if outcome["id"] in regressed(report):
            found = [each["location"] for each in outcome["findings"] if each.get("location")]
            places += [f"{each['file']}:{each['line']}" for each in found]
    lines = []
    for place in places:
        file, _, number = place.rpartition(":")
        text = (folder / file).read_text(encoding="utf-8").splitlines() if number else []
        lines.append(text[int(number) - 1].strip() if text else "")
    return lines


def right(change: Change, folder: Path, baseline: str) -> bool:
    """Whether the gate says of a change what it must; printed."""
    script = JOB.read_text(encoding="utf-8")
    for old, new in change.edits:
        assert old in script, old
        script = script.replace(old, new)
    code, report = checked(
        folder, change.name, script, "cache", "--baseline", baseline, "--fail-on-regression", LIMIT
    )
    worse, lines = regressed(report), named(folder, report)
    touched = not change.lines or any(part in lines[0] for part in change.lines if lines)
    if not change.figures:
        good = code == 0 and worse == set(change.checks) and bool(lines) is bool(change.lines)
        good &= touched
    else:
        good = code == 1 and bool(worse & set(change.figures)) and touched
    print(
        f"{'right' if good else 'WRONG'} {change.name:22} exit {code} {sorted(worse)} {lines[:2]}",
        flush=True,
    )
    return good


def differs(before: dict, after: dict) -> list[str]:
    """What two reports say differently of the TPU's program."""
    plain = [json.loads(json.dumps(each).replace("again.py", "job.py")) for each in (before, after)]
    left, right_ = ({p["target"]: p for p in each["predictions"]} for each in plain)
    return [name for name in left if left[name] != right_.get(name)]


def main() -> None:
    """The changes that are named, or all, and the job itself again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/tpudiag-gate"))
    parser.add_argument("--again", type=int, default=10)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    started = monotonic()
    script = JOB.read_text(encoding="utf-8")
    _, before = checked(asked.folder, "job", script, "cache")
    chosen = [each for each in CHANGES if not asked.names or each.name in asked.names]
    good = sum(right(each, asked.folder, "job.json") for each in chosen)
    same = 0
    for number in range(asked.again):
        code, after = checked(asked.folder, "again", script, f"cache-{number}", "--baseline",
                              "job.json", "--fail-on-regression", "0%")  # fmt: skip
        same += code == 0 and not differs(before, after) and not regressed(after)
    print(f"{good} of {len(chosen)} changes right; {same} of {asked.again} times no difference; "
          f"{monotonic() - started:.0f} s")  # fmt: skip
    if good < len(chosen) or same < asked.again:
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
