#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rules/diagnosis/traceback_lines.h"
#include "trainyard/logging/v2/logging.pb.h"

namespace trainyard::replica {

/// The severity that Python's own forms of a line name: `WARNING:root:text` (logging without a format) and
/// `task.py:3: UserWarning: text` (warnings). Nothing for any other line. Pure: any thread.
[[nodiscard]] std::optional<logging::v2::LogEntry::Severity> SeverityOfPythonLine(
    std::string_view line) noexcept;

/// Makes entries of the lines of stderr. A traceback of Python's is one entry, with all of its chain and the
/// lines of its message; so is a warning with the source line below it. Every other line is one by itself; a
/// progress bar that a traceback's first line stands behind is a line, too.
/// What an entry may still need is held until the next line tells, or Release. Pure; one thread.
class StderrEntries {
 public:
  /// Calls `sink(std::string_view entry)` for each entry that is complete now. The view is valid during the
  /// call.
  template <class Sink>
  void Line(std::string_view line, Sink&& sink) {
    if (const std::size_t bar = BarBefore(line); bar > 0) {
      Line(line.substr(0, bar), sink);
      line.remove_prefix(bar);
    }
    if (Continues(line)) {
      if (state_ == State::kWhole) Release(sink);
      return;
    }
    Release(sink);
    if (!Begins(line)) sink(line);
  }
  /// Nothing more comes, or not soon: what is held is an entry.
  template <class Sink>
  void Release(Sink&& sink) {
    if (!holds()) return;
    while (held_.ends_with('\n')) held_.pop_back();  // the beginning of a chain that did not go on
    state_ = State::kNone;
    sink(std::string_view(held_));
  }
  [[nodiscard]] bool holds() const noexcept { return state_ != State::kNone; }
  /// What is held can be whole: it is no traceback that lacks its exception.
  [[nodiscard]] bool can_be_whole() const noexcept {
    return state_ == State::kWarning || state_ == State::kMessage;
  }
  /// Lines that were held so far: tells whether any came since.
  [[nodiscard]] std::size_t lines_held() const noexcept { return lines_held_; }

 private:
  enum class State {
    kNone,
    kWarning,   ///< its source line may follow
    kFrames,    ///< of a traceback: its exception is to follow
    kMessage,   ///< of a traceback: lines of the message may follow, or the next one of the chain
    kOriginal,  ///< of a traceback: frames of TensorFlow 1 behind the message
    kGraph,     ///< of a traceback: frames of TensorFlow 2 in the message: the reason is to follow
    kLinked,    ///< of a chain: the next traceback is to follow
    kWhole,     ///< nothing more belongs to it
  };

  /// The bytes of a progress bar (it ends no line, only returns to its beginning) before a traceback's
  /// header; 0: there is none.
  [[nodiscard]] static std::size_t BarBefore(std::string_view line) noexcept;
  [[nodiscard]] static State StateAfter(diagnosis::TracebackLine kind);
  bool Begins(std::string_view line);
  bool Continues(std::string_view line);
  /// Whether the line belongs to the traceback whose exception has come.
  bool ContinuesMessage(std::string_view line);
  bool Hold(std::string_view line, State state);

  State state_ = State::kNone;
  std::string held_;
  std::size_t lines_held_ = 0;
};

}  // namespace trainyard::replica
