#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "programs/lines/log_writer.h"

namespace trainyard::replica {

/// How long a stream that keeps writing is left alone between two reads.
inline constexpr std::chrono::milliseconds kOutputRest{2};
/// So many reads come one after the other before the stream rests: a burst of lines is read at once.
inline constexpr int kReadsBeforeRest = 16;
/// A read of so many bytes is followed by the next one immediately: the pipe must not become full.
inline constexpr std::size_t kRestBytesMax = std::size_t{32} << 10;

/// When the pipes of a program's output are read. A program whose every write wakes this process is slowed
/// down by that more than by its own work: Python writes twice for each line. So a stream that keeps writing
/// is read at intervals, while it goes on writing into its pipe. A stream that was silent is read at once.
/// Pure.
class OutputPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// So many bytes of the stream were read.
  void OnRead(OutputStream stream, std::size_t bytes, Time now) noexcept {
    Pace& pace = paces_[std::to_underlying(stream)];
    const bool goes_on = now < pace.rest_end + kOutputRest;
    pace.reads = goes_on && bytes < kRestBytesMax ? pace.reads + 1 : 0;
    pace.rest_end = pace.reads < kReadsBeforeRest ? now : now + kOutputRest;
  }
  /// Until then the stream need not be read, unless something else happens: what it wrote came before that.
  [[nodiscard]] Time rest_end(OutputStream stream) const noexcept {
    return paces_[std::to_underlying(stream)].rest_end;
  }

 private:
  struct Pace {
    int reads = 0;    ///< one after the other
    Time rest_end{};  ///< without a rest: the time of the last read
  };
  std::array<Pace, kStreamCount> paces_{};
};

}  // namespace trainyard::replica
