#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard::curves {

/// Trials whose reports are read for one request.
inline constexpr std::size_t kTrialsReadMax = 1'000;

/// How far the reports of a job's trials were read. Trials are given by their uid.
struct ReportsKnown {
  std::int64_t until = 0;  ///< all trials up to this one have ended and are read: they do not change any more
  std::int64_t next = 0;   ///< the last round ended after this one, with trials left; 0: none were left
  friend bool operator==(const ReportsKnown&, const ReportsKnown&) = default;
};

/// Chooses the trials that one request reads: some after those that do not change any more; the next request
/// continues from there, and after the last trial it begins again. So a first trial that runs for days does
/// not delay later ones. Pure. One thread at a time.
class ReportRound {
 public:
  explicit ReportRound(ReportsKnown known)
      : known_(known),
        at_(known.next > known.until ? known.next : known.until),
        is_first_(at_ == known.until) {}

  /// The next trials are those after this one.
  [[nodiscard]] std::int64_t after() const noexcept { return at_; }
  [[nodiscard]] bool IsFull() const noexcept { return read_ >= kTrialsReadMax; }
  /// Trials must come in order of their uids.
  void Take(std::int64_t trial, bool has_ended) {
    ++read_;
    at_ = trial;
    is_first_ = is_first_ && has_ended;
    if (is_first_) known_.until = trial;
  }
  /// The progress so far. `is_at_end`: there are no trials after after().
  [[nodiscard]] ReportsKnown Known(bool is_at_end) const {
    return {.until = known_.until, .next = is_at_end ? 0 : at_};
  }

 private:
  ReportsKnown known_;
  std::int64_t at_;
  bool is_first_;  ///< all after `until` have ended so far
  std::size_t read_ = 0;
};

}  // namespace trainyard::curves
