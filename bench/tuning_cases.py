"""Cases of the tuner: a sample of bench/tuning that fits into two minutes, and what many short trials cost."""

import shutil
import subprocess
import sys

from harness import ROOT, fdatasync_ms

sys.path.insert(0, str(ROOT / "bench/tuning"))
import compare  # noqa: E402

FUNCTIONS = "1-24"
DIMENSIONS = "4,8"
RIVALS = {"optuna-tpe": "Optuna's TPE", "random": "random search"}


def tuning(bench):
    """The 24 functions, one instance each, by ours and by other tuners that are fast enough; and the time of a suggestion."""
    program, runs = bench.tool("tuning_bench"), {}
    work = [FUNCTIONS, DIMENSIONS, "1", "100", "1"]
    commands = {"ours": [program, "run", *work]}
    python = ROOT / "build/rivals/bin/python"
    commands |= {name: [python, ROOT / "bench/tuning/rivals.py", "--problems", program, name, *work] for name in RIVALS}
    for name, command in commands.items():
        path = bench.folder / name
        with path.open("w") as file:
            subprocess.run(command, stdout=file, check=True)
        runs[name] = compare.read(path)
    for dimension in DIMENSIONS.split(","):
        mean, wins = {}, {}
        for name in runs:
            pairs = [(regret, runs[name][run]) for run, regret in runs["ours"].items() if run.dimension == int(dimension)]
            mean[name] = sum(theirs for _, theirs in pairs) / len(pairs)
            wins[name] = compare.wins(pairs)
        bench.row(f"log10 regret after 100 trials at d = {dimension}, mean of 24 functions", "better in 60 % of the runs",
                  f"{mean['ours']:.2f}; " + ", ".join(f"better than {RIVALS[name]} in {wins[name]:.0%}" for name in RIVALS),
                  ", ".join(f"{RIVALS[name]} {mean[name]:.2f}" for name in RIVALS))
    costs = [subprocess.run([program, "cost", "8", str(count)], check=True, capture_output=True, text=True).stdout.split()
             for count in (100, 1000, 10000)]
    bench.row("one suggestion at d = 8 after 100, 1,000, 10,000 trials: p95 on one core, memory", "20, 150, 300 ms; 64, -, 256 MB",
              ", ".join(f"{float(cost[3]):.0f}" for cost in costs) + " ms; " + ", ".join(f"{float(cost[5]):.0f}" for cost in costs) + " MB",
              "bench/tuning has the slower rivals", costs=float(costs[-1][3]))


def tuning_trials(bench, trials=10_000, parallel=16, second_ms=100):
    """One-second trials on a simulated clock, all else real: how long a slot stays empty between two trials."""
    folder = bench.folder / "tuning"
    command = [bench.tool("tuning_trials_bench"), folder, str(trials), str(parallel), str(second_ms)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    shutil.rmtree(folder)
    seen = dict(zip(done.stdout.split()[1::2], map(float, done.stdout.split()[2::2])))
    bench.row(f"{trials:,} one-second trials on {parallel} places: what each adds", "2 % (20 ms)",
              f"{seen['gap_mean_ms'] / 10:.2f} % ({seen['gap_mean_ms']:.1f} ms, p99 {seen['gap_p99_ms']:.1f})",
              f"with trials of {second_ms} ms: {seen['trials_per_s']:.0f} trials/s; fdatasync of 4 KiB {fdatasync_ms(bench):.2f} ms",
              costs=seen["gap_mean_ms"])
