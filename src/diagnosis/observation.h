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
struct Observation {
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
};

}  // namespace trainyard::diagnosis
