#include "control/testing/schedule.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <system_error>

#include "base/check.h"

namespace trainyard::control {
namespace {

/// With Slurm everything takes more steps of the world: agents have to connect before anything runs.
constexpr int kSlowerWithSlurm = 12;

/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (SplitMix64).
std::uint64_t Mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::uint64_t HashOf(const std::string& name) {
  std::uint64_t hash = 0;
  for (const char letter : name) hash = Mix(hash * 257 + static_cast<unsigned char>(letter));
  return hash;
}

/// A number of a selection; one that nothing has if the text is none.
int NumberIn(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : std::numeric_limits<int>::max();
}

const Action* Draw(ActionRandom& random, WorldKind world) {
  const auto weight_of = [world](const Action& action) {
    return action.needs_slurm && world != WorldKind::kSlurm ? 0 : action.weight;
  };
  int weights = 0;
  for (const Action& action : Actions()) weights += weight_of(action);
  auto left = static_cast<int>(random.Below(static_cast<std::size_t>(weights)));
  for (const Action& action : Actions()) {
    left -= weight_of(action);
    if (left < 0) return &action;
  }
  TY_CHECK(false);
}

/// In two schedules of five, a third of the actions wait for a stage.
std::optional<jobs::Stage> DrawStage(std::uint64_t seed, ActionRandom& random) {
  using enum jobs::Stage;
  constexpr jobs::Stage kStages[] = {kPreparing, kRunning, kRetrying, kFinishing, kCancelling};
  const bool waits = random.Below(3) == 0;
  const jobs::Stage stage = kStages[random.Below(std::size(kStages))];
  return waits && seed % 5 < 2 ? std::optional(stage) : std::nullopt;
}

}  // namespace

WorldKind WorldOf(std::uint64_t seed) {
  constexpr std::uint64_t kSlurmSeeds[] = {6, 7};
  if (std::ranges::find(kSlurmSeeds, seed % 8) != std::end(kSlurmSeeds)) return WorldKind::kSlurm;
  return seed % 2 == 0 ? WorldKind::kCluster : WorldKind::kMachine;
}

std::uint64_t ActionRandom::Next() {
  state_ += 0x9e3779b97f4a7c15;
  return Mix(state_);
}

std::string ActionRandom::Pick(const std::vector<std::string>& names) {
  const std::uint64_t salt = Next();
  std::string picked;
  std::uint64_t best = 0;
  for (const std::string& name : names) {
    const std::uint64_t rank = Mix(HashOf(name) ^ salt);
    if (!picked.empty() && rank <= best) continue;
    picked = name;
    best = rank;
  }
  return picked;
}

const Action& FindAction(std::string_view name) {
  const auto found = std::ranges::find(Actions(), name, &Action::name);
  TY_CHECK(found != Actions().end());
  return *found;
}

const std::vector<const Action*>& Faults() {
  static const std::vector<const Action*> kFaults = [] {
    std::vector<const Action*> faults;
    for (const Action& action : Actions()) {
      if (action.kind == Action::Kind::kFault || action.kind == Action::Kind::kLastingFault)
        faults.push_back(&action);
    }
    return faults;
  }();
  return kFaults;
}

Schedule MakeSchedule(std::uint64_t seed, int count) {
  const int slower = WorldOf(seed) == WorldKind::kSlurm ? kSlowerWithSlurm : 1;
  Schedule schedule{.seed = seed};
  ActionRandom random(Mix(seed));
  ActionRandom stages(Mix(~seed));
  for (int number = 0; number < count; ++number) {
    const bool is_long = random.Below(3) == 0;
    const auto steps = slower * static_cast<int>(random.Below(is_long ? 60 : 8));
    const Action* const action = Draw(random, WorldOf(seed));
    schedule.actions.push_back({.number = number,
                                .action = action,
                                .steps = steps,
                                .seed = random.Next(),
                                .at = DrawStage(seed, stages)});
  }
  return schedule;
}

std::string PrintSelection(const Schedule& whole, const Schedule& selected) {
  std::string text;
  for (const PlannedAction& planned : selected.actions) {
    if (!text.empty()) text += ',';
    text += std::to_string(planned.number);
    const int steps = whole.actions.at(static_cast<std::size_t>(planned.number)).steps;
    if (planned.steps != steps) text += ':' + std::to_string(planned.steps);
  }
  return text;
}

Schedule Select(const Schedule& whole, std::string_view selection) {
  Schedule selected{.seed = whole.seed};
  while (!selection.empty()) {
    const std::string_view one = selection.substr(0, selection.find(','));
    selection.remove_prefix(std::min(one.size() + 1, selection.size()));
    const std::size_t colon = one.find(':');
    const auto number = static_cast<std::size_t>(NumberIn(one.substr(0, colon)));
    if (number >= whole.actions.size()) continue;
    selected.actions.push_back(whole.actions[number]);
    if (colon != std::string_view::npos) selected.actions.back().steps = NumberIn(one.substr(colon + 1));
  }
  return selected;
}

}  // namespace trainyard::control
