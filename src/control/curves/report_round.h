#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard::curves {

/// Trials whose reports are read for one question.
inline constexpr std::size_t kTrialsReadMax = 1'000;

/// How far the reports of a job's trials are known. Trials by their uid.
struct ReportsKnown {
  std::int64_t until = 0;  ///< all up to this one have ended, and are read: they do not change
  std::int64_t next = 0;   ///< the last round ended behind this one, with trials left; 0: it did not
  friend bool operator==(const ReportsKnown&, const ReportsKnown&) = default;
};

/// Which trials one question reads: some behind those that do not change, the next question goes on from
/// there, and after the last one it begins again. So a first trial that runs for days hides no later one.
/// Pure. One thread at a time.
class ReportRound {
 public:
  explicit ReportRound(ReportsKnown known)
      : known_(known),
        at_(known.next > known.until ? known.next : known.until),
        is_first_(at_ == known.until) {}

  /// The trials behind this one are next.
  [[nodiscard]] std::int64_t after() const noexcept { return at_; }
  [[nodiscard]] bool IsFull() const noexcept { return read_ >= kTrialsReadMax; }
  /// In order of their uids.
  void Take(std::int64_t trial, bool has_ended) {
    ++read_;
    at_ = trial;
    is_first_ = is_first_ && has_ended;
    if (is_first_) known_.until = trial;
  }
  /// What is known now. `is_at_end`: there are no trials behind after().
  [[nodiscard]] ReportsKnown Known(bool is_at_end) const {
    return {.until = known_.until, .next = is_at_end ? 0 : at_};
  }

 private:
  ReportsKnown known_;
  std::int64_t at_;
  bool is_first_;  ///< all from `until` on have ended so far
  std::size_t read_ = 0;
};

}  // namespace trainyard::curves
