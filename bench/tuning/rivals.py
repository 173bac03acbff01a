#!/usr/bin/env python3
"""Other tuners on the problems of tuning_bench: a line per run, in the form of its `run`.

usage: rivals.py --problems build/release/bench/tuning_bench TUNER FUNCTIONS DIMENSIONS INSTANCES TRIALS PARALLEL
TUNER: random, optuna-tpe, optuna-gp (needs optuna, torch), vizier (needs google-vizier[jax]); lists such as 1,2,5-9.
How to install the rivals: bench/tuning/README.md. With PARALLEL > 1 trials take uneven simulated times, and a tuner is
asked for the next one whenever one ends, as in tuning_bench.
"""

import argparse
import heapq
import random
import subprocess
import time
import warnings


class Problems:
    """The functions themselves are those of tuning_bench: a process that is asked line by line."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise SystemExit(f"{words}: {answer}")
        return answer

    def space(self, function, dimension):
        space = [parameter.split() for parameter in self.ask("space", function, dimension).split(";")]
        assert all(len(parameter) == (2 if parameter[0] in ("discrete", "category") else 4) for parameter in space), space
        return space

    def value(self, function, dimension, instance, point):
        return float(self.ask("value", function, dimension, instance, *(repr(float(x)) for x in point)))


class Random:
    def __init__(self, space, seed):
        self.space, self.random = space, random.Random(seed)

    def draw(self, kind, *rest):
        if kind == "double":
            low, high = float(rest[0]), float(rest[1])
            return low * (high / low) ** self.random.random() if rest[2] == "log" else self.random.uniform(low, high)
        if kind == "integer":
            return self.random.randint(int(float(rest[0])), int(float(rest[1])))
        values = rest[0].split(",")
        return float(self.random.choice(values)) if kind == "discrete" else self.random.randrange(len(values))

    def suggest(self):
        return None, [self.draw(*parameter) for parameter in self.space]

    def tell(self, handle, value):
        pass


class Optuna:
    def __init__(self, space, seed, sampler):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        self.space = space
        made = (optuna.samplers.GPSampler(seed=seed, deterministic_objective=True) if sampler == "gp"
                else optuna.samplers.TPESampler(seed=seed))
        self.study = optuna.create_study(direction="minimize", sampler=made)

    def suggest(self):
        trial = self.study.ask()
        point = []
        for index, (kind, *rest) in enumerate(self.space):
            name = f"x{index}"
            if kind == "double":
                point.append(trial.suggest_float(name, float(rest[0]), float(rest[1]), log=rest[2] == "log"))
            elif kind == "integer":
                point.append(trial.suggest_int(name, int(float(rest[0])), int(float(rest[1])), log=rest[2] == "log"))
            elif kind == "discrete":
                values = [float(value) for value in rest[0].split(",")]
                point.append(values[trial.suggest_int(name, 0, len(values) - 1)])
            else:
                point.append(trial.suggest_categorical(name, list(range(len(rest[0].split(","))))))
        return trial, point

    def tell(self, handle, value):
        self.study.tell(handle, value)


class Vizier:
    """The default designer, its acquisition optimiser (stateless) kept for all studies of a space and padding on: stock
    builds it anew and compiles for each number of trials."""

    optimizers = {}  # by space

    def __init__(self, space, seed):
        import jax
        jax.config.update("jax_enable_x64", True)  # as its service does: in 32 bits some suggestions have no values
        from vizier import algorithms as vza
        from vizier import pyvizier as vz
        from vizier._src.algorithms.designers import gp_ucb_pe
        from vizier.pyvizier.converters import padding
        self.vz, self.vza = vz, vza
        problem = vz.ProblemStatement()
        self.kinds = []
        for index, (kind, *rest) in enumerate(space):
            root, name = problem.search_space.root, f"x{index}"
            scale = vz.ScaleType.LOG if kind in ("double", "integer") and rest[2] == "log" else vz.ScaleType.LINEAR
            if kind == "double":
                root.add_float_param(name, float(rest[0]), float(rest[1]), scale_type=scale)
            elif kind == "integer":
                root.add_int_param(name, int(float(rest[0])), int(float(rest[1])), scale_type=scale)
            elif kind == "discrete":
                root.add_discrete_param(name, [float(value) for value in rest[0].split(",")])
            else:
                root.add_categorical_param(name, [str(i) for i in range(len(rest[0].split(",")))])
            self.kinds.append(kind)
        problem.metric_information.append(vz.MetricInformation(name="y", goal=vz.ObjectiveMetricGoal.MINIMIZE))
        designer = gp_ucb_pe.VizierGPUCBPEBandit

        def once(converter):
            if str(space) not in self.optimizers:
                self.optimizers[str(space)] = designer.default_acquisition_optimizer_factory(converter)
            return self.optimizers[str(space)]

        self.designer = designer(problem, acquisition_optimizer_factory=once, rng=jax.random.PRNGKey(seed),
                                 padding_schedule=padding.PaddingSchedule(num_trials=padding.PaddingType.POWERS_OF_2))
        self.active, self.count = {}, 0

    def suggest(self):
        suggestion = self.designer.suggest(1)[0]
        self.count += 1
        trial = suggestion.to_trial(self.count)
        self.active[self.count] = trial
        values = [trial.parameters.get_value(f"x{index}") for index in range(len(self.kinds))]
        return trial, [float(value) for value in values]

    def tell(self, handle, value):
        handle.complete(self.vz.Measurement(metrics={"y": value}))
        self.active.pop(handle.id)
        self.designer.update(self.vza.CompletedTrials([handle]), self.vza.ActiveTrials(list(self.active.values())))


def make(tuner, space, seed):
    if tuner == "random":
        return Random(space, seed)
    if tuner == "vizier":
        return Vizier(space, seed)
    return Optuna(space, seed, tuner.removeprefix("optuna-"))


def numbers(text):
    for word in text.split(","):
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def perform(problems, tuner, function, dimension, instance, trials, parallel):
    made = make(tuner, problems.space(function, dimension), instance)
    durations = random.Random(instance)
    running, best, spent, started, now = [], [], [], 0, 0.0
    while len(best) < trials:
        while len(running) < parallel and started < trials:
            begin = time.process_time()
            handle, point = made.suggest()
            spent.append((time.process_time() - begin) * 1000)
            heapq.heappush(running, (now + 0.5 + durations.random(), started, handle, point))
            started += 1
        now, _, handle, point = heapq.heappop(running)
        value = problems.value(function, dimension, instance, point)
        begin = time.process_time()
        made.tell(handle, value)
        spent[-1] += (time.process_time() - begin) * 1000
        best.append(min(value, best[-1]) if best else value)
    spent.sort()
    times = [sum(spent) / len(spent), spent[int(0.95 * (len(spent) - 1))], spent[-1]]
    print(function, dimension, instance, parallel, *(f"{ms:.2f}" for ms in times), *(f"{value:.4g}" for value in best), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", required=True)
    parser.add_argument("tuner", choices=["random", "optuna-tpe", "optuna-gp", "vizier"])
    parser.add_argument("functions", type=numbers)
    parser.add_argument("dimensions")
    parser.add_argument("instances")
    parser.add_argument("trials", type=int)
    parser.add_argument("parallel", type=int)
    options = parser.parse_args()
    problems = Problems(options.problems)
    functions = list(options.functions)
    for dimension in numbers(options.dimensions):
        for function in functions:
            for instance in numbers(options.instances):
                perform(problems, options.tuner, function, dimension, instance, options.trials, options.parallel)


if __name__ == "__main__":
    main()
