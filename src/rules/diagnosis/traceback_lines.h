#pragma once

#include <string_view>
#include <vector>

/// The lines of Python's tracebacks, and what libraries put into their messages. Pure: any thread.
namespace trainyard::diagnosis {

inline constexpr std::string_view kTracebackHeader = "Traceback (most recent call last):";

enum class TracebackLine {
  kOther,          ///< a frame, what was raised, anything
  kHeader,         ///< Python's: frames follow, then the exception
  kWorkersHeader,  ///< PyTorch's, in the message of an exception that it passes on from a worker: as kHeader
  kLink,           ///< between two tracebacks of a chain
  kOriginalStack,  ///< TensorFlow 1's, behind a message: the frames that made the operation
  kGraphStack,     ///< TensorFlow 2's, before the reason: the frames that made the operation
};
/// Sources: `traceback` of Python; torch/_utils.py (ExceptionWrapper); of TensorFlow 2
/// framework/error_interpolation.py and eager/polymorphic_function/atomic_function.py.
[[nodiscard]] TracebackLine KindOf(std::string_view line) noexcept;

/// Whether a line behind a kGraphStack belongs to it. The reason is the first line that does not.
[[nodiscard]] bool IsOfGraphStack(std::string_view line) noexcept;

/// The lines that say what was raised: no headers, no frames. A list for each exception of a chain (and of
/// those passed on from workers), the one that counts last. Views into the text.
[[nodiscard]] std::vector<std::vector<std::string_view>> ExceptionsOf(std::string_view traceback);

}  // namespace trainyard::diagnosis
