#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tuning/study.h"

namespace trainyard::tuning {

/// Proposes points. What it proposes is a function of the spec and the trials that it is shown, in their
/// order: a tuner that is made anew after a restart and is shown the same trials goes on as if nothing had
/// been. What it keeps between calls only saves time. One thread at a time; no clock, no thread of its own.
class Tuner {
 public:
  explicit Tuner(StudySpec spec);
  ~Tuner();
  Tuner(Tuner&&) noexcept;
  Tuner& operator=(Tuner&&) noexcept;

  /// Up to `count` points for the next trials; fewer, or none, once the space has no further point (a grid
  /// that is through). The trials are all of the study so far, ended and pending ones, those of resumed
  /// studies first. The points know of each other.
  ///
  /// @param made  how many trials were ever made, where some were deleted: what a deleted one was drawn by is
  ///              not drawn by again
  [[nodiscard]] std::vector<Point> Suggest(std::span<const Trial> trials, int count, int made = 0);

  [[nodiscard]] const StudySpec& spec() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::tuning
