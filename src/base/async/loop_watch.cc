#include "base/async/loop_watch.h"

#include <algorithm>

#include "base/async/diagnostics.h"

namespace trainyard {

namespace {

constexpr std::string_view kOther = "other";

std::string Milliseconds(LoopWatch::Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms";
}

}  // namespace

LoopWatch::LoopWatch(Duration turn_max) : turn_max_(turn_max) {}

void LoopWatch::Took(std::string_view cause, Duration took, std::chrono::steady_clock::time_point now) {
  longest_ = std::max(longest_, took);
  if (took <= turn_max_) return;
  auto found = stalls_.find(cause);
  if (found == stalls_.end()) {
    if (stalls_.size() >= kCausesMax) cause = kOther;
    found = stalls_.try_emplace(std::string(cause)).first;
  }
  Stalls& stalls = found->second;
  ++stalls.count;
  stalls.longest = std::max(stalls.longest, took);
  Say(found->first, stalls, took, now);
}

void LoopWatch::Say(const std::string& cause, const Stalls& stalls, Duration took,
                    std::chrono::steady_clock::time_point now) {
  const auto [said, is_first] = said_.try_emplace(cause);
  if (!is_first && now - said->second.at < kSayPause) return;
  const std::int64_t unsaid = stalls.count - said->second.count - 1;
  std::string line = "the loop stood still for " + Milliseconds(took) + " in " + cause;
  if (unsaid > 0)
    line += "; " + std::to_string(unsaid) + " more since the last such line, the longest ever " +
            Milliseconds(stalls.longest);
  line += ". All other clients waited meanwhile; please report it";
  Diagnose(DiagnosticLevel::kWarning, line);
  said->second = {.at = now, .count = stalls.count};
}

}  // namespace trainyard
