#include "control/testing/schedule.h"

#include <functional>
#include <numeric>

#include "base/check.h"

namespace trainyard::control {
namespace {

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

const Action* Draw(ActionRandom& random) {
  int weights = 0;
  for (const Action& action : Actions()) weights += action.weight;
  auto left = static_cast<int>(random.Below(static_cast<std::size_t>(weights)));
  for (const Action& action : Actions()) {
    left -= action.weight;
    if (left < 0) return &action;
  }
  TY_CHECK(false);
}

}  // namespace

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

Schedule MakeSchedule(std::uint64_t seed, int count) {
  Schedule schedule{.seed = seed};
  ActionRandom random(Mix(seed));
  for (int number = 0; number < count; ++number) {
    const bool is_long = random.Below(3) == 0;
    const auto steps = static_cast<int>(random.Below(is_long ? 60 : 8));
    const Action* const action = Draw(random);
    schedule.actions.push_back({.number = number, .action = action, .steps = steps, .seed = random.Next()});
  }
  return schedule;
}

}  // namespace trainyard::control
