#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::diagnosis {

/// A line that the program (or, in the preparation, the installing tool) wrote.
struct OutputLine {
  std::string text;       ///< without line end; may be cut at its end
  bool is_error = false;  ///< from stderr
  friend bool operator==(const OutputLine&, const OutputLine&) = default;
};

/// What is known of the end of an attempt.
struct Symptoms {
  using Cause = replica::v1::ExitRecord::Cause;
  Cause cause = replica::v1::ExitRecord::CAUSE_UNSPECIFIED;
  int exit_code = 0;
  int signal = 0;
  std::string message;                  ///< of the exit record: a tool's own words, why it was stopped
  std::string traceback;                ///< the last Python traceback; empty: none was seen
  std::vector<OutputLine> last_lines;   ///< oldest first
  std::string python_module;            ///< that was to be run
  int accelerators = 0;                 ///< that the replica was given
  std::int64_t memory_peak_bytes = 0;   ///< 0: unknown
  std::int64_t memory_limit_bytes = 0;  ///< 0: none
  bool counts_memory_kills = true;      ///< false: nothing tells a kill for want of memory from another one
  std::int64_t processes_limit = 0;     ///< 0: none
  bool processes_refused = false;       ///< the kernel refused to start one more
};

/// Whether a process that the kernel killed for want of memory was killed for the replica's own limit: a kill
/// by the limit comes at the limit, but some pages may have been given back on the way. Otherwise the machine
/// had run out.
/// @param peak_bytes  0: unknown.  @param limit_bytes  0: none. Pure: any thread.
[[nodiscard]] constexpr bool IsAtMemoryLimit(std::int64_t peak_bytes, std::int64_t limit_bytes) {
  constexpr std::int64_t kTenths = 8;
  return limit_bytes > 0 && (peak_bytes == 0 || peak_bytes >= limit_bytes / 10 * kTenths);
}

}  // namespace trainyard::diagnosis
