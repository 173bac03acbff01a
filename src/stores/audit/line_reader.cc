#include "stores/audit/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/async/file.h"

namespace trainyard::audit {

namespace {

constexpr std::int64_t kBlockBytes = 4 * LineReader::kLineBytesMax;

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path) {
  TY_TRY(UniqueFd file, OpenFile(path, O_RDONLY | O_NOFOLLOW));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return std::unexpected(ErrnoError(errno, "stat " + path));
  return LineReader(std::move(file), status.st_size);
}

std::string_view LineReader::View(std::int64_t begin, std::int64_t end) const {
  return std::string_view(block_).substr(static_cast<std::size_t>(begin - block_begin_),
                                         static_cast<std::size_t>(end - begin));
}

Status LineReader::Load(std::int64_t begin, std::int64_t end) {
  if (begin >= block_begin_ && end <= block_begin_ + std::ssize(block_)) return {};
  // Half a block more on either side, so that the next lines are loaded in both directions.
  const std::int64_t spare = (kBlockBytes - (end - begin)) / 2;
  const std::int64_t from = std::max<std::int64_t>(0, begin - spare);
  const std::int64_t to = std::min(size_, end + spare);
  std::string block(static_cast<std::size_t>(to - from), '\0');
  std::size_t got = 0;
  while (got < block.size()) {
    const ssize_t n =
        ::pread(file_.get(), block.data() + got, block.size() - got, from + static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(ErrnoError(errno, "read the audit log"));
    if (n == 0) break;  // the file was shortened: zeros are not lines
    got += static_cast<std::size_t>(n);
  }
  block_ = std::move(block);
  block_begin_ = from;
  return {};
}

Result<std::optional<LineReader::Line>> LineReader::At(std::int64_t offset) {
  if (offset >= size_) return std::nullopt;
  const std::int64_t window = std::min(size_, offset + kLineBytesMax);
  TY_RETURN_IF_ERROR(Load(offset, window));
  const std::string_view bytes = View(offset, window);
  const std::size_t end = bytes.find('\n');
  if (end != std::string_view::npos) {
    return Line{offset, offset + static_cast<std::int64_t>(end) + 1, bytes.substr(0, end)};
  }
  if (window == size_) return std::nullopt;
  return Line{offset, window, {}};
}

Result<std::optional<LineReader::Line>> LineReader::Before(std::int64_t offset) {
  const std::int64_t end = std::min(offset, size_);
  if (end <= 0) return std::nullopt;
  const std::int64_t window = std::max<std::int64_t>(0, end - kLineBytesMax);
  TY_RETURN_IF_ERROR(Load(window, end));
  const std::string_view bytes = View(window, end);
  const bool is_whole = bytes.ends_with('\n');
  const std::string_view text = is_whole ? bytes.substr(0, bytes.size() - 1) : bytes;
  const std::size_t before = text.rfind('\n');
  if (before == std::string_view::npos && window > 0) return Line{window, end, {}};
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return Line{window + static_cast<std::int64_t>(begin), end,
              is_whole ? text.substr(begin) : std::string_view()};
}

Result<std::int64_t> LineReader::LineStart(std::int64_t offset) {
  if (offset <= 0 || offset >= size_) return std::clamp<std::int64_t>(offset, 0, size_);
  // The previous line's end may be the byte before `offset`.
  const std::int64_t window = std::min(size_, offset - 1 + kLineBytesMax);
  TY_RETURN_IF_ERROR(Load(offset - 1, window));
  const std::size_t end = View(offset - 1, window).find('\n');
  return end == std::string_view::npos ? window : offset + static_cast<std::int64_t>(end);
}

}  // namespace trainyard::audit
