#include "storage/copy_file.h"

#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>

namespace trainyard::storage {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;

}  // namespace

Status CopyBytes(int source, int target) {
  off_t offset = 0;
  bool in_place = true;  // copy_file_range shares blocks on some file systems and refuses pairs of others
  while (true) {
    const ssize_t copied = in_place ? ::copy_file_range(source, &offset, target, nullptr, kPieceBytes, 0)
                                    : ::sendfile(target, source, &offset, kPieceBytes);
    if (copied > 0 || (copied < 0 && errno == EINTR)) continue;
    if (copied == 0 && (offset > 0 || !in_place)) return {};
    // Some file systems answer 0 where they mean "not me": an empty file is confirmed by sendfile.
    const bool refused =
        copied == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (!in_place || !refused) return std::unexpected(ErrnoError(errno, "copy"));
    in_place = false;
  }
}

}  // namespace trainyard::storage
