#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Lines of a job's log on a terminal, where the state of a progress bar takes the place of the one before.
/// Pure: any thread.
namespace trainyard::cli {

/// At the end of a line: it is a state of a progress bar (the entry's label `redraw`).
inline constexpr char kRedrawMark = '\x1d';

/// The lines as a pipe gets them: without the marks.
[[nodiscard]] std::string WithoutRedrawMarks(std::string_view lines);

/// The text without the colours and the movements of the cursor that bars print: there is nothing to see in
/// them, and a terminal must not obey them. Other control characters stay.
[[nodiscard]] std::string WithoutControlSequences(std::string_view text);

/// One terminal. One thread at a time.
class LogView {
 public:
  /// @param lines  "SEVERITY\tTIME\tTASK\t...\n", each with its end
  /// @param columns  of the terminal: a longer state is cut, since only one line can be taken back
  [[nodiscard]] std::string Show(std::string_view lines, std::size_t columns);

 private:
  std::string bar_task_;  ///< whose bar is the last line; empty: it is none
};

}  // namespace trainyard::cli
