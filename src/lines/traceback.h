#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::replica {

/// What of a traceback goes into the job's error message. Source: spec lifecycle.md section 3.
inline constexpr std::size_t kTracebackBytesMax = 2048;

inline constexpr std::string_view kTracebackHeader = "Traceback (most recent call last):";
/// What TensorFlow 1 puts behind the message of an error: the frames that made the operation.
inline constexpr std::string_view kOriginalStack = "Original stack trace for ";

/// Whether Python joins two tracebacks of a chain with that line.
[[nodiscard]] bool IsTracebackLink(std::string_view line) noexcept;

/// Cuts a traceback, or a chain of them, to the limit. The first exception (the cause) and the last one (that
/// ended the program) keep their type and message; frames go oldest first, "  [...]" stands in their place,
/// and exceptions between the two go before those. Where that does not suffice (a huge message) messages are
/// cut at their ends. UTF-8 stays whole. Pure: any thread.
[[nodiscard]] std::string CutTraceback(std::string_view text, std::size_t bytes_max = kTracebackBytesMax);

/// The lines that say what was raised, of all exceptions of a chain, oldest first: no headers, no frames.
/// Views into the text. Pure: any thread.
[[nodiscard]] std::vector<std::string_view> ExceptionLines(std::string_view traceback);

}  // namespace trainyard::replica
