#pragma once

#include <string_view>
#include <vector>

/// The lines of Python's tracebacks, and of tracebacks that libraries put into messages. Pure: any thread.
namespace trainyard::diagnosis {

inline constexpr std::string_view kTracebackHeader = "Traceback (most recent call last):";

enum class TracebackLine {
  kOther,          ///< a frame, the exception, anything
  kHeader,         ///< Python's: frames follow, then the exception
  kWorkersHeader,  ///< PyTorch's, in the message of an exception that it re-raises from a worker: like
                   ///< kHeader
  kLink,           ///< between two tracebacks of a chain
  kOriginalStack,  ///< TensorFlow 1's, after a message: the frames that created the operation
  kGraphStack,     ///< TensorFlow 2's, before the reason: the frames that created the operation
};
/// Sources: `traceback` of Python; torch/_utils.py (ExceptionWrapper); of TensorFlow 2
/// framework/error_interpolation.py and eager/polymorphic_function/atomic_function.py.
[[nodiscard]] TracebackLine KindOf(std::string_view line) noexcept;

/// Whether a line after a kGraphStack belongs to it. The reason is the first line that does not.
[[nodiscard]] bool IsOfGraphStack(std::string_view line) noexcept;

/// The lines with the exceptions' types and messages: no headers, no frames. One list for each exception of a
/// chain (including those re-raised from workers), the decisive one last. Views into the text.
[[nodiscard]] std::vector<std::vector<std::string_view>> ExceptionsOf(std::string_view traceback);

}  // namespace trainyard::diagnosis
