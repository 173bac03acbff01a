"""What a job waits for that imports large modules, once and in each trial of a tuning job."""

import os
import pathlib
import re
import subprocess
import time

from harness import ROOT, millis, quantile, seconds

WANTED = ("tensorflow", "torch", "pandas,sklearn")
TRIAL_S, TRIALS = 1, 20
PIN = re.compile(r"^(\S+) .* built\b", re.MULTILINE)


def environments():
    """A directory of runtime versions that are built: here they are too large to be built for each run."""
    return pathlib.Path(os.environ.get("TRAINYARD_TEST_ENVIRONMENTS") or ROOT / "build/environments")


def runtime_with(bench, modules):
    """A built runtime version that has these modules, and its Python; none: None."""
    data = bench.folder / "built"
    if not data.exists():
        data.mkdir()
        (data / "environments").symlink_to(environments())
    done = subprocess.run([bench.program, "runtimes", "list", "--data", data], check=True, capture_output=True, text=True)
    for version in PIN.findall(done.stdout):
        for folder in sorted(environments().glob(f"runtimes/{version}-*"), key=os.path.getmtime, reverse=True):
            found = [any(folder.glob(f"lib/python*/site-packages/{module}")) for module in modules.split(",")]
            if found and all(found):
                return version, folder / "bin/python"
    return None


def alone(python, modules, rounds):
    """Seconds from the start of the interpreter until it has imported them."""
    spent = []
    for _ in range(rounds):
        begin = time.time()
        done = subprocess.run([python, "-m", "probe.imports", "0", modules], cwd=ROOT / "tests/trainers/probe", check=True,
                              capture_output=True, text=True)
        spent.append(first_of(done.stdout.splitlines()) - begin)
    return spent


def first_of(lines):
    return float(next(line for line in lines if line.startswith("FIRST ")).split()[1])


def imports(bench, rounds=7):
    """Submit to the first line of a program behind its imports: the first such job of a server, and those after it."""
    for modules in WANTED:
        found = runtime_with(bench, modules)
        if not found:
            print(f"imports: no runtime version with {modules} is built in {environments()}")
            continue
        version, python = found
        server = bench.server("imports-" + modules.replace(",", "-"), environments=environments())
        uri = bench.upload(server)
        server.submit("layer", packageUris=[uri], runtimeVersion=version, pythonModule="probe.first")
        assert server.wait("layer")["state"] == "SUCCEEDED", server.texts("layer")
        spent = []
        for number in range(rounds):
            begin = time.time()
            bench.create(server, f"imports_{number}", packageUris=[uri], runtimeVersion=version, pythonModule="probe.imports",
                         args=["0", modules])
            server.wait(f"imports_{number}")
            spent.append(first_of(server.texts(f"imports_{number}")) - begin)
            time.sleep(1)  # as a person who reads the log: whatever is prepared for the next job is prepared now
        bench.stop(server)
        later = spent[2:]
        bench.row(f"submit to the first line behind `import {modules}`, runtime {version}", "0.25 s", millis(later),
                  f"the first job of the server {spent[0] * 1e3:.0f} ms; the interpreter alone {millis(alone(python, modules, 3))}",
                  costs=quantile(later, 0.5))


def trials(bench):
    """A tuning job of short trials, one at a time, whose program imports TensorFlow, or what is there."""
    found = next(((modules, *runtime) for modules in (WANTED[0], *WANTED[1:], "json") if (runtime := runtime_with(bench, modules))),
                 ("json", "0.1", "/usr/bin/python3"))
    modules, version, python = found
    server = bench.server("trials", environments=environments())
    uri = bench.upload(server)
    server.submit("layer", packageUris=[uri], runtimeVersion=version, pythonModule="probe.first")
    assert server.wait("layer")["state"] == "SUCCEEDED", server.texts("layer")
    begin = time.time()
    bench.create(server, "trials", packageUris=[uri], runtimeVersion=version, pythonModule="probe.imports", args=[str(TRIAL_S), modules],
                 hyperparameters={"goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": TRIALS, "maxParallelTrials": 1,
                                  "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 0, "maxValue": 1}]})
    job = bench.e2e.wait_for(lambda: (lambda job: job if "endTime" in job else None)(server.get("trials")),
                             lambda: f"{server.get('trials')}\n{server.texts('trials')[-20:]}", deadline_s=600)
    assert job["state"] == "SUCCEEDED", (job, server.texts("trials")[-10:])
    each = (seconds(job["endTime"]) - begin) / TRIALS
    bench.stop(server)
    bench.row(f"{TRIALS} trials of {TRIAL_S} s, one at a time, that import {modules} (runtime {version}): seconds a trial", "1.5 s",
              f"{each:.2f} s ({each * TRIALS:.0f} s in all)",
              f"its program's own {TRIAL_S} s, with its imports {TRIAL_S + quantile(alone(python, modules, 3), 0.5):.2f} s", costs=each)
