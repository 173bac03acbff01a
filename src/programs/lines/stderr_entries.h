#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rules/diagnosis/traceback_lines.h"
#include "trainyard/logging/v2/logging.pb.h"

namespace trainyard::replica {

/// The limit for a traceback in the job's error message. Source: spec lifecycle.md section 3.
inline constexpr std::size_t kTracebackBytesMax = 2048;

/// Cuts a traceback, or a chain of them, to the limit. Frames are removed first, the oldest first; then, if
/// that is not enough, TensorFlow's stacks (rules/diagnosis/traceback_lines.h), then exceptions between the
/// first one (the cause) and the last one (that ended the program), and then the ends of messages. "  [...]"
/// replaces what was removed. It never cuts a UTF-8 character. Pure: any thread.
[[nodiscard]] std::string CutTraceback(std::string_view text, std::size_t bytes_max = kTracebackBytesMax);

/// The severity in lines of Python's own formats: `WARNING:root:text` (logging without a format) and
/// `task.py:3: UserWarning: text` (warnings). Empty for any other line. Pure: any thread.
[[nodiscard]] std::optional<logging::v2::LogEntry::Severity> SeverityOfPythonLine(
    std::string_view line) noexcept;

/// Combines lines of stderr into entries. A Python traceback is one entry, with its whole chain and the lines
/// of its message; so is a warning with the source line below it. Every other line is an entry by itself. An
/// entry that may be incomplete is held until the next line shows whether it is, or until Release. Pure; one
/// thread.
class StderrEntries {
 public:
  /// Calls `sink(std::string_view entry)` for each entry that is now complete. The view is valid during the
  /// call.
  template <class Sink>
  void Line(std::string_view line, Sink&& sink) {
    if (Continues(line)) {
      if (state_ == State::kWhole) Release(sink);
      return;
    }
    Release(sink);
    if (!Begins(line)) sink(line);
  }
  /// Call it when nothing more comes, or not soon: passes on the held entry.
  template <class Sink>
  void Release(Sink&& sink) {
    if (!holds()) return;
    while (held_.ends_with('\n')) held_.pop_back();  // the beginning of a chain that did not continue
    state_ = State::kNone;
    sink(std::string_view(held_));
  }
  [[nodiscard]] bool holds() const noexcept { return state_ != State::kNone; }
  /// Whether the held entry can be complete: it is not a traceback that lacks its exception.
  [[nodiscard]] bool can_be_whole() const noexcept {
    return state_ == State::kWarning || state_ == State::kMessage;
  }
  /// How many lines were held so far, to notice new ones.
  [[nodiscard]] std::size_t lines_held() const noexcept { return lines_held_; }

 private:
  enum class State {
    kNone,
    kWarning,   ///< its source line may follow
    kFrames,    ///< of a traceback: its exception must follow
    kMessage,   ///< of a traceback: lines of the message may follow, or the next one of the chain
    kOriginal,  ///< of a traceback: frames of TensorFlow 1 after the message
    kGraph,     ///< of a traceback: frames of TensorFlow 2 in the message: the reason must follow
    kLinked,    ///< of a chain: the next traceback must follow
    kWhole,     ///< nothing more belongs to it
  };

  [[nodiscard]] static State StateAfter(diagnosis::TracebackLine kind);
  bool Begins(std::string_view line);
  bool Continues(std::string_view line);
  /// Whether the line belongs to the traceback whose exception was already read.
  bool ContinuesMessage(std::string_view line);
  bool Hold(std::string_view line, State state);

  State state_ = State::kNone;
  std::string held_;
  std::size_t lines_held_ = 0;
};

}  // namespace trainyard::replica
