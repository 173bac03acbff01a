#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::replica {

/// The limit for a traceback in the job's error message. Source: spec lifecycle.md section 3.
inline constexpr std::size_t kTracebackBytesMax = 2048;

/// Cuts a traceback, or a chain of them, to the limit. Frames are removed first, the oldest first; then, if
/// that is not enough, TensorFlow's stacks (rules/diagnosis/traceback_lines.h), then exceptions between the
/// first one (the cause) and the last one (that ended the program), and then the ends of messages. "  [...]"
/// replaces what was removed. It never cuts a UTF-8 character. Pure: any thread.
[[nodiscard]] std::string CutTraceback(std::string_view text, std::size_t bytes_max = kTracebackBytesMax);

}  // namespace trainyard::replica
