#include "cli/storage/visible_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "base/wire/visible_text.h"

namespace trainyard::cli {
namespace {

/// False: the terminal was closed.
bool WriteAll(int terminal, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(terminal, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Reads until the other end is closed, even if the terminal was closed: the writer must not block.
void Print(const UniqueFd& read_end, int terminal) {
  std::array<char, 16 << 10> buffer{};
  wire::VisibleStream shown;
  bool there = true;
  for (;;) {
    const ssize_t count = ::read(read_end.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const std::string text = shown.Next({buffer.data(), static_cast<std::size_t>(count)});
    there = there && WriteAll(terminal, text);
  }
  if (there) WriteAll(terminal, shown.Finish());
}

}  // namespace

Result<std::unique_ptr<VisiblePipe>> VisiblePipe::Open(int terminal) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  return std::unique_ptr<VisiblePipe>(new VisiblePipe(UniqueFd(ends[0]), UniqueFd(ends[1]), terminal));
}

VisiblePipe::VisiblePipe(UniqueFd read_end, UniqueFd write_end, int terminal)
    : write_end_(std::move(write_end)),
      printer_([end = std::move(read_end), terminal] { Print(end, terminal); }) {}

VisiblePipe::~VisiblePipe() { write_end_.Reset(); }

}  // namespace trainyard::cli
