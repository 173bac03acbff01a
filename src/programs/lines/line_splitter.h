#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::replica {

/// The most bytes of one log entry; a longer line is cut into several. Source: the logging API's limit of 256
/// KB per entry.
inline constexpr std::size_t kLineBytesMax = std::size_t{256} << 10;
/// The most bytes of a line that may be a JSON object ('{' is its first byte). It is not cut before this, so
/// that its severity and its fields can be read.
inline constexpr std::size_t kObjectBytesMax = std::size_t{2} << 20;

/// Cuts a stream of bytes into lines. A line's end is '\n' or "\r\n"; neither is part of the line. Lines over
/// the limit are cut into pieces that do not break a UTF-8 character. Pure; one thread.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_bytes_max = kLineBytesMax,
                        std::size_t object_bytes_max = kObjectBytesMax)
      : line_bytes_max_(line_bytes_max), object_bytes_max_(object_bytes_max) {}

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

  /// The beginning of a line whose end has not been read yet.
  [[nodiscard]] const std::string& rest() const noexcept { return rest_; }
  [[nodiscard]] std::string TakeRest() { return std::exchange(rest_, {}); }
  /// Whether the line that was passed on last is a piece of one, and more of it follows.
  [[nodiscard]] bool was_cut() const noexcept { return was_cut_; }

 private:
  [[nodiscard]] std::size_t BytesMax(std::string_view bytes) const noexcept;
  bool NextLine(std::string_view& bytes, std::string_view& line);
  bool LastLine(std::string_view& line);
  void DropTaken();

  std::size_t line_bytes_max_;
  std::size_t object_bytes_max_;
  bool was_cut_ = false;
  std::string rest_;       ///< the beginning of a line whose end has not been read yet
  std::size_t taken_ = 0;  ///< bytes of rest_ that belong to the last line
};

}  // namespace trainyard::replica
