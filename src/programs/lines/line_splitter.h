#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::replica {

/// The most bytes of one log entry; a longer line is cut into several. Source: the logging API's limit of 256
/// KB per entry.
inline constexpr std::size_t kLineBytesMax = std::size_t{256} << 10;

/// Cuts a stream of bytes into lines. A line's end is '\n' or "\r\n"; neither is part of the line. Lines over
/// the limit are cut into pieces that do not break a UTF-8 character. Pure; one thread.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_bytes_max = kLineBytesMax) : line_bytes_max_(line_bytes_max) {}

  /// Calls `sink(std::string_view line)` for each line that is now complete. The view is valid during the
  /// call.
  template <class Sink>
  void Feed(std::string_view bytes, Sink&& sink) {
    std::string_view line;
    while (NextLine(bytes, line)) {
      sink(line);
      DropTaken();
    }
  }

  /// Call it at the end of the stream: passes on the last line if it had no newline.
  template <class Sink>
  void Finish(Sink&& sink) {
    std::string_view line;
    while (LastLine(line)) {
      sink(line);
      DropTaken();
    }
  }

 private:
  bool NextLine(std::string_view& bytes, std::string_view& line);
  bool LastLine(std::string_view& line);
  void DropTaken();

  std::size_t line_bytes_max_;
  std::string rest_;       ///< the beginning of a line whose end has not been read yet
  std::size_t taken_ = 0;  ///< bytes of rest_ that belong to the last line
};

}  // namespace trainyard::replica
