#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "programs/lines/line_splitter.h"

namespace trainyard::replica {

/// The least time between two states of a progress bar that become lines.
inline constexpr std::chrono::nanoseconds kRedrawInterval = std::chrono::seconds(1);
/// How long a line may lack its end before it is passed on without it.
inline constexpr std::chrono::nanoseconds kLineWaitMax = std::chrono::seconds(2);

/// Cuts a stream into lines as a terminal would show them. A program that draws a progress bar returns to the
/// beginning of the line ('\r'), or goes back (several '\b'), and writes over it: of the states of such a
/// line, about one a second is passed on, and always the last one. A line that does not end is passed on
/// after a while, and its rest later as a continuation. Times are nanoseconds of a clock that may jump. Pure;
/// one thread.
class Redraws {
 public:
  enum class Kind {
    kLine,
    kRedraw,     ///< a state of a line that the program writes over
    kContinued,  ///< the rest of a line, of which a part was passed on before
  };
  /// Takes everything that can be passed on; the view is valid during the call.
  using Sink = std::function<void(std::string_view text, Kind kind)>;

  void Feed(std::string_view bytes, std::uint64_t now_ns, const Sink& sink);
  /// Passes on what has waited long enough. Call it about once a second while holds().
  void Tick(std::uint64_t now_ns, const Sink& sink);
  /// Call it at the end of the stream, whose last line may lack its end.
  void Finish(std::uint64_t now_ns, const Sink& sink);
  /// Whether something waits for its end, or for its time.
  [[nodiscard]] bool holds() const noexcept;

 private:
  void PassLine(std::string_view text, const Sink& sink);
  void EndLine(std::string_view line, std::uint64_t now_ns, const Sink& sink);
  /// The program begins to write over what it wrote since the line's beginning.
  void Replace(std::uint64_t now_ns, const Sink& sink);
  void GoBack(std::size_t characters, std::uint64_t now_ns, const Sink& sink);
  void Show(std::uint64_t now_ns, const Sink& sink);
  void NoteRest(std::uint64_t now_ns);

  LineSplitter splitter_;
  std::string last_;           ///< the newest state that was written over
  std::string shown_;          ///< the state that was passed on last
  bool unshown_ = false;       ///< last_ was not passed on
  bool redrawn_ = false;       ///< the present line has been written over
  bool returned_ = false;      ///< the stream ended with '\r', so far: "\r\n" is the end of a line
  bool is_continued_ = false;  ///< a part of the present line was passed on
  bool had_rest_ = false;
  std::uint64_t rest_since_ = 0;
  std::uint64_t shown_at_ = 0;
};

}  // namespace trainyard::replica
