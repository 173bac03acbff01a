#include "rules/jobs/silence.h"

#include <cmath>

namespace trainyard::jobs {

std::string SilenceRemark(std::chrono::nanoseconds silence, double cpu_use) {
  if (silence < kLongSilence) return {};
  constexpr std::chrono::hours kInHours{3};
  const auto hours = std::chrono::floor<std::chrono::hours>(silence).count();
  const auto minutes = std::chrono::floor<std::chrono::minutes>(silence).count();
  std::string text = "No output for " + (silence < kInHours ? std::to_string(minutes) + " minutes"
                                                            : std::to_string(hours) + " hours");
  constexpr double kPercent = 100;
  if (cpu_use >= 0) text += "; it uses " + std::to_string(std::lround(cpu_use * kPercent)) + " % of its CPUs";
  return text + ".";
}

}  // namespace trainyard::jobs
