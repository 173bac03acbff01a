#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::replica {

/// What of a traceback goes into the job's error message. Source: spec lifecycle.md section 3.
inline constexpr std::size_t kTracebackBytesMax = 2048;

/// Cuts a traceback, or a chain of them, to the limit. The first exception (the cause) and the last one (that
/// ended the program) keep their type and message; frames go oldest first, "  [...]" stands in their place,
/// and exceptions between the two go before those. Where that does not suffice (a huge message) messages are
/// cut at their ends. UTF-8 stays whole. Of TensorFlow's stacks (rules/diagnosis/traceback_lines.h), which
/// are the first to go, "  [...]" stays. Pure: any thread.
[[nodiscard]] std::string CutTraceback(std::string_view text, std::size_t bytes_max = kTracebackBytesMax);

}  // namespace trainyard::replica
