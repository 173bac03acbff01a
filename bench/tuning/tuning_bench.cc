// Our tuner on problems with a known optimum. docs: bench/tuning/README.md
//   tuning_bench run FUNCTIONS DIMENSIONS INSTANCES TRIALS PARALLEL    lists such as 1,2,5-9
//     a line per run: function dimension instance parallel, processor milliseconds per suggestion (mean, p95,
//     most), then the least regret after each trial
//   tuning_bench cost DIMENSION TRIALS
//     what a suggestion costs after so many trials: processor milliseconds (mean, p95, most), megabytes
//   tuning_bench serve
//     problems for programs in other languages, a line in, a line out: see Serve below
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <queue>
#include <sstream>
#include <string>
#include <vector>

#include "rules/tuning/random.h"
#include "rules/tuning/tuner.h"
#include "tuning/problems/problem.h"

namespace trainyard::bench {
namespace {

// This program's own processor time: others on the machine do not count.
double ProcessorMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

std::vector<int> List(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto dash = word.find('-');
    const int first = std::atoi(word.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(word.c_str() + dash + 1);
    for (int i = first; i <= last; ++i) numbers.push_back(i);
  }
  return numbers;
}

struct Run {
  int function;
  int dimension;
  int instance;
  int trials;
  int parallel;
};

struct Times {
  std::vector<double> milliseconds;
  double Mean() const {
    double sum = 0;
    for (const double t : milliseconds) sum += t;
    return sum / static_cast<double>(std::max<std::size_t>(1, milliseconds.size()));
  }
  double Quantile(double q) {
    std::ranges::sort(milliseconds);
    return milliseconds[static_cast<std::size_t>(q * static_cast<double>(milliseconds.size() - 1))];
  }
};

// Trials run for uneven times on `parallel` slots, in simulated time; a suggestion is asked for whenever one
// ends.
void Perform(const Run& run) {
  const auto problem = MakeProblem(run.function, run.dimension, static_cast<std::uint64_t>(run.instance));
  tuning::StudySpec spec{.space = problem->space(), .metrics = {{"regret", false}}};
  spec.seed = static_cast<std::uint64_t>(run.instance);
  spec.trials_planned = run.trials;
  tuning::Tuner tuner(spec);
  tuning::Random durations(static_cast<std::uint64_t>(run.instance), 4711);
  struct Running {
    double ends;
    std::size_t trial;
    bool operator<(const Running& other) const { return ends > other.ends; }
  };
  std::priority_queue<Running> running;
  std::vector<tuning::Trial> trials;
  std::vector<double> best;
  Times times;
  double now = 0;
  while (static_cast<int>(best.size()) < run.trials) {
    while (static_cast<int>(running.size()) < run.parallel && static_cast<int>(trials.size()) < run.trials) {
      const double start = ProcessorMilliseconds();
      auto points = tuner.Suggest(trials, 1);
      times.milliseconds.push_back(ProcessorMilliseconds() - start);
      if (points.empty()) break;
      tuning::Trial trial{.id = static_cast<int>(trials.size()) + 1, .point = points.front()};
      running.push({now + 0.5 + durations.Uniform(), trials.size()});
      trials.push_back(std::move(trial));
    }
    if (running.empty()) break;
    const Running ended = running.top();
    running.pop();
    now = ended.ends;
    tuning::Trial& trial = trials[ended.trial];
    const double regret = problem->Regret(trial.point);
    trial.state = tuning::Trial::State::kCompleted;
    trial.values = {regret};
    best.push_back(best.empty() ? regret : std::min(best.back(), regret));
  }
  std::printf("%d %d %d %d", run.function, run.dimension, run.instance, run.parallel);
  const double mean = times.Mean();
  std::printf(" %.2f %.2f %.2f", mean, times.Quantile(0.95), times.Quantile(1));
  for (const double value : best) std::printf(" %.4g", value);
  std::printf("\n");
  std::fflush(stdout);
}

/// Reads a figure of this process by its name in /proc/self/status.
double Megabytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::atof(line.c_str() + name.size() + 1) / 1024;
  }
  return 0;
}

// Random trials of one function, then suggestions, each of which brings one more result.
void Cost(int dimension, int count) {
  constexpr int kFunction = 8;
  constexpr int kSuggestions = 40;
  const auto problem = MakeProblem(kFunction, dimension, 1);
  tuning::StudySpec spec{.space = problem->space(), .metrics = {{"regret", false}}};
  spec.trials_planned = count + kSuggestions;
  std::vector<tuning::Trial> trials;
  const auto take = [&](tuning::Point point) {
    const double regret = problem->Regret(point);
    trials.push_back({.id = static_cast<int>(trials.size()) + 1,
                      .point = std::move(point),
                      .state = tuning::Trial::State::kCompleted,
                      .values = {regret}});
  };
  tuning::StudySpec random = spec;
  random.algorithm = tuning::Algorithm::kRandom;
  for (auto& point : tuning::Tuner(random).Suggest({}, count)) take(std::move(point));
  const double before = Megabytes("VmRSS");
  tuning::Tuner tuner(spec);
  Times times;
  for (int i = 0; i < kSuggestions; ++i) {
    const double start = ProcessorMilliseconds();
    auto points = tuner.Suggest(trials, 1);
    times.milliseconds.push_back(ProcessorMilliseconds() - start);
    take(std::move(points.front()));
  }
  const double mean = times.Mean();
  std::printf("%d %d %.2f %.2f %.2f %.1f\n", dimension, count, mean, times.Quantile(0.95), times.Quantile(1),
              Megabytes("VmHWM") - before);
}

// In:  "space F D"            out: the parameters, "double MIN MAX SCALE", "integer ..", "discrete V,V",
// "category A,B",
//                                  with spaces between the fields and ';' between the parameters
//      "value F D SEED X..."  out: the regret; X: a number for each parameter, of a category its index
void Serve() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    int function = 0;
    int dimension = 0;
    words >> verb >> function >> dimension;
    if (!IsProblem(function, dimension)) {
      std::printf("error: no such problem\n");
    } else if (verb == "space") {
      std::printf("%s\n", SpaceText(MakeProblem(function, dimension, 1)->space()).c_str());
    } else {
      std::uint64_t seed = 0;
      words >> seed;
      tuning::Point point;
      for (double x = 0; words >> x;) point.push_back(x);
      const auto problem = MakeProblem(function, dimension, seed);
      if (verb == "value" && point.size() == problem->space().parameters.size()) {
        std::printf("%.17g\n", problem->Regret(point));
      } else {
        std::printf("error: not a request\n");
      }
    }
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) {
  using namespace trainyard::bench;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "serve") {
    Serve();
    return 0;
  }
  if (words.size() == 3 && words[0] == "cost") {
    Cost(std::atoi(words[1].c_str()), std::atoi(words[2].c_str()));
    return 0;
  }
  if (words.size() != 6 || words[0] != "run") {
    std::fprintf(stderr,
                 "usage: tuning_bench run FUNCTIONS DIMENSIONS INSTANCES TRIALS PARALLEL | cost DIMENSION "
                 "TRIALS | serve\n");
    return 2;
  }
  for (const int dimension : List(words[2])) {
    for (const int function : List(words[1])) {
      if (!IsProblem(function, dimension)) {
        std::fprintf(stderr, "%d is no function of %d dimensions here\n", function, dimension);
        continue;
      }
      for (const int instance : List(words[3])) {
        Perform({function, dimension, instance, std::atoi(words[4].c_str()), std::atoi(words[5].c_str())});
      }
    }
  }
}
