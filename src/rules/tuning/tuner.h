#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rules/tuning/space.h"

namespace trainyard::tuning {

/// FirstPoint and NextPoint enumerate all points of a space; the last parameter changes fastest. A double
/// with a range keeps its lower bound.
[[nodiscard]] Point FirstPoint(const Space& space);

/// The next point; nullopt after the last one.
[[nodiscard]] std::optional<Point> NextPoint(const Space& space, const Point& point);

/// Proposes points. Its proposals depend only on the spec and on the given trials, in their order: a new
/// tuner that gets the same trials after a restart continues as before. State between calls only saves time.
/// One thread at a time; no clock, no thread of its own.
class Tuner {
 public:
  explicit Tuner(StudySpec spec);
  ~Tuner();
  Tuner(Tuner&&) noexcept;
  Tuner& operator=(Tuner&&) noexcept;

  /// Up to `count` points for the next trials; fewer, or none, if the space has no more points (a finished
  /// grid). `trials` are all trials of the study so far, ended and pending ones, those of resumed studies
  /// first. Each point takes the others of the same call into account.
  ///
  /// @param made  the number of trials ever made, if some were deleted: the random numbers of a deleted trial
  /// are not used again
  [[nodiscard]] std::vector<Point> Suggest(std::span<const Trial> trials, int count, int made = 0);

  [[nodiscard]] const StudySpec& spec() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::tuning
