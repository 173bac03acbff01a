#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::audit {

/// The lines of a file that may grow meanwhile, read in either direction by offsets: what was appended since
/// Open is not seen. Keeps one block of the file in memory. Blocking; one thread.
class LineReader {
 public:
  /// Longer lines are skipped in pieces without a text.
  static constexpr std::int64_t kLineBytesMax = std::int64_t{64} << 10;

  struct Line {
    std::int64_t begin = 0;
    std::int64_t end = 0;   ///< where the next one begins
    std::string_view text;  ///< without its line end; valid until the next call. Empty: not a readable line
  };

  /// kNotFound: there is no such file (any more).
  [[nodiscard]] static Result<LineReader> Open(const std::string& path);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// The line that begins at `offset`. Nothing: the file ends there, or within the line (the line is being
  /// written, or was cut by a crash).
  [[nodiscard]] Result<std::optional<Line>> At(std::int64_t offset);
  /// The line that ends at `offset`. Nothing: the file begins there.
  [[nodiscard]] Result<std::optional<Line>> Before(std::int64_t offset);
  /// The begin of the first line at or after `offset`; if there is none within kLineBytesMax, the position
  /// that far ahead.
  [[nodiscard]] Result<std::int64_t> LineStart(std::int64_t offset);

 private:
  LineReader(UniqueFd file, std::int64_t size) : file_(std::move(file)), size_(size) {}
  /// Makes the block contain [begin, end), which is inside of the file.
  Status Load(std::int64_t begin, std::int64_t end);
  [[nodiscard]] std::string_view View(std::int64_t begin, std::int64_t end) const;

  UniqueFd file_;
  std::int64_t size_;
  std::string block_;
  std::int64_t block_begin_ = 0;
};

}  // namespace trainyard::audit
