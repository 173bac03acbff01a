#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::diagnosis {

/// A line that the program (or, during preparation, the installing tool) wrote.
struct OutputLine {
  std::string text;       ///< without line end; may be cut at its end
  bool is_error = false;  ///< from stderr
  friend bool operator==(const OutputLine&, const OutputLine&) = default;
};

/// What the replica has of the TPU that its job asked for.
enum class Tpu {
  kNotRequested,
  kWaived,    ///< nothing: the operator's table (--accelerator-map) says none
  kReplaced,  ///< the CPU in its place: the table says cpu
  kDeclared,  ///< its name, but no device file: the operator declared it (--accelerators)
  kGiven
};

/// What is known about the end of an attempt.
struct Symptoms {
  using Cause = replica::v1::ExitRecord::Cause;
  Cause cause = replica::v1::ExitRecord::CAUSE_UNSPECIFIED;
  int exit_code = 0;
  int signal = 0;
  std::string message;                 ///< of the exit record: a tool's error message, or why it was stopped
  std::string traceback;               ///< the last Python traceback; empty: none was seen
  std::vector<OutputLine> last_lines;  ///< oldest first
  std::string python_module;           ///< the module to run; empty: a container image's program
  /// The module whose import failed is a file or a directory beside the file that imports it.
  bool import_is_sibling = false;
  int accelerators = 0;  ///< allocated to the replica
  Tpu tpu = Tpu::kNotRequested;
  std::int64_t memory_peak_bytes = 0;   ///< 0: unknown
  std::int64_t memory_limit_bytes = 0;  ///< 0: none
  bool counts_memory_kills =
      true;  ///< false: a kill for lack of memory cannot be distinguished from another one
  std::int64_t processes_limit = 0;  ///< 0: none
  bool processes_refused = false;    ///< the kernel refused to start one more
};

/// Whether a process that the kernel killed for lack of memory had reached the replica's own limit. The peak
/// is near the limit then, but some pages may have been returned before the kill. Otherwise the machine had
/// run out of memory.
/// @param peak_bytes  0: unknown.  @param limit_bytes  0: none. Pure: any thread.
[[nodiscard]] constexpr bool IsAtMemoryLimit(std::int64_t peak_bytes, std::int64_t limit_bytes) {
  constexpr std::int64_t kTenths = 8;
  return limit_bytes > 0 && (peak_bytes == 0 || peak_bytes >= limit_bytes / 10 * kTenths);
}

}  // namespace trainyard::diagnosis
