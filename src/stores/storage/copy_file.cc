#include "stores/storage/copy_file.h"

#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace trainyard::storage {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;
constexpr std::uint64_t kReadBytes = std::uint64_t{1} << 20;

}  // namespace

Status CopyBytes(int source, std::uint64_t offset, std::uint64_t length, int target) {
  auto at = static_cast<off_t>(offset);
  bool copied_some = false;
  bool in_place = true;  // copy_file_range shares blocks on some file systems and refuses pairs of others
  while (length > 0) {
    const std::size_t want = std::min<std::uint64_t>(length, kPieceBytes);
    const ssize_t copied = in_place ? ::copy_file_range(source, &at, target, nullptr, want, 0)
                                    : ::sendfile(target, source, &at, want);
    if (copied > 0) {
      length -= static_cast<std::uint64_t>(copied);
      copied_some = true;
      continue;
    }
    if (copied < 0 && errno == EINTR) continue;
    if (copied == 0 && (copied_some || !in_place)) return {};
    // Some file systems return 0 for "not supported": an empty file is confirmed by sendfile.
    const bool refused =
        copied == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (!in_place || !refused) return std::unexpected(ErrnoError(errno, "copy"));
    in_place = false;
  }
  return {};
}

Status ReadPieces(int source, std::uint64_t offset, std::uint64_t length,
                  const std::function<Status(std::string_view)>& take) {
  std::vector<char> buffer(std::min(length, kReadBytes));
  while (length > 0) {
    const std::size_t want = std::min(length, kReadBytes);
    const ssize_t got = ::pread(source, buffer.data(), want, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(ErrnoError(errno, "read"));
    if (got == 0)
      return std::unexpected(Error{Code::kAborted, "the file became shorter while it was read", {}});
    TY_RETURN_IF_ERROR(take({buffer.data(), static_cast<std::size_t>(got)}));
    offset += static_cast<std::uint64_t>(got);
    length -= static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace trainyard::storage
