#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rules/tuning/study.h"

namespace trainyard::tuning {

/// Proposes points. Its proposals depend only on the spec and on the given trials, in their order: a new
/// tuner that gets the same trials after a restart continues as before. State between calls only saves time.
/// One thread at a time; no clock, no thread of its own.
class Tuner {
 public:
  explicit Tuner(StudySpec spec);
  ~Tuner();
  Tuner(Tuner&&) noexcept;
  Tuner& operator=(Tuner&&) noexcept;

  /// Up to `count` points for the next trials; fewer, or none, if the space has no further point (a finished
  /// grid). `trials` are all trials of the study so far, ended and pending ones, those of resumed studies
  /// first. Each point takes the others of the same call into account.
  ///
  /// @param made  how many trials were ever made, if some were deleted: the random numbers of a deleted trial
  ///              are not used again
  [[nodiscard]] std::vector<Point> Suggest(std::span<const Trial> trials, int count, int made = 0);

  [[nodiscard]] const StudySpec& spec() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::tuning
