#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::replica {

/// What of a traceback goes into the job's error message. Source: spec lifecycle.md section 3.
inline constexpr std::size_t kTracebackBytesMax = 2048;

/// Cuts a traceback to the limit: the oldest frames go, "  [...]" stands after the first line; where that
/// does not suffice (a huge message of the exception) the text is cut at its end. UTF-8 stays whole. Pure:
/// any thread.
[[nodiscard]] std::string CutTraceback(std::string_view text, std::size_t bytes_max = kTracebackBytesMax);

/// Finds the last Python traceback in what a replica writes. Pure; one thread.
class TracebackFinder {
 public:
  /// A line of stderr. A traceback is its header, the indented lines below and the line with the exception.
  void StderrLine(std::string_view line);
  /// The text of a structured entry. It is one if it begins with the header.
  void Entry(std::string_view text);
  /// The last one, cut; empty if there was none.
  [[nodiscard]] std::string Last() const { return CutTraceback(last_); }

 private:
  std::string last_;
  bool open_ = false;  ///< last_ still lacks the line with the exception
};

}  // namespace trainyard::replica
