#include "stores/storage/staged_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/async/file.h"
#include "base/check.h"
#include "stores/storage/folder.h"

namespace trainyard::storage {
StagedFile::StagedFile(int uploads, std::string id, UniqueFd file)
    : uploads_(uploads), id_(std::move(id)), file_(std::move(file)) {}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : uploads_(other.uploads_),
      id_(std::move(other.id_)),
      file_(std::move(other.file_)),
      size_(other.size_),
      kept_(std::exchange(other.kept_, true)),
      checksum_(std::move(other.checksum_)),
      known_(std::move(other.known_)) {}

StagedFile::~StagedFile() {
  if (!kept_) ::unlinkat(uploads_, id_.c_str(), 0);
}

Result<StagedFile> StagedFile::Create(int uploads, std::string id) {
  UniqueFd file(
      ::openat(uploads, id.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kObjectMode));
  if (!file || ::fchmod(file.get(), kObjectMode) != 0)
    return std::unexpected(ErrnoError(errno, "create a file for the upload"));
  return StagedFile(uploads, std::move(id), std::move(file));
}

Result<StagedFile> StagedFile::Reopen(int uploads, std::string id) {
  UniqueFd file(::openat(uploads, id.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return std::unexpected(ErrnoError(errno, "open the upload's file"));
  StagedFile staged(uploads, std::move(id), std::move(file));
  staged.Keep();
  TY_TRY(const FileStamp stamp, staged.Stamp());
  staged.size_ = stamp.size;
  if (::lseek(staged.file_.get(), 0, SEEK_END) < 0) return std::unexpected(ErrnoError(errno, "seek"));
  return staged;
}

Status StagedFile::Reread(std::uint64_t offset, std::uint64_t length) {
  return AddFile(checksum_, file_.get(), offset, length);
}

/// A file written by a program may be setuid; one placed by the API must not be.
static bool DropSetuid(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return false;
  if ((status.st_mode & (S_ISUID | S_ISGID)) == 0) return true;
  return ::fchmod(descriptor, status.st_mode & 01777) == 0;
}

Result<std::optional<StagedFile>> StagedFile::Link(int uploads, std::string id, int descriptor,
                                                   std::uint64_t length, Digests digests) {
  const std::string source = "/proc/self/fd/" + std::to_string(descriptor);
  if (!DropSetuid(descriptor) ||
      ::linkat(AT_FDCWD, source.c_str(), uploads, id.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return std::nullopt;
  UniqueFd file(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!file) return std::unexpected(ErrnoError(errno, "open"));
  StagedFile linked(uploads, std::move(id), std::move(file));
  linked.size_ = length;
  linked.known_ = std::make_unique<Digests>(std::move(digests));
  return linked;
}

Status StagedFile::Append(std::string_view bytes) {
  Status written = WriteAll(file_.get(), bytes);
  if (!written) {
    const auto size = static_cast<off_t>(size_);
    const bool undone = ::ftruncate(file_.get(), size) == 0 && ::lseek(file_.get(), size, SEEK_SET) == size;
    if (!undone) return std::unexpected(ErrnoError(errno, "truncate"));
    return written;
  }
  checksum_.Update(bytes);
  size_ += bytes.size();
  return {};
}

Status StagedFile::AppendFile(int descriptor, std::uint64_t offset, std::uint64_t length) {
  return ReadPieces(descriptor, offset, length, [this](std::string_view piece) { return Append(piece); });
}

Status StagedFile::CopySlice(int descriptor, std::uint64_t offset, std::uint64_t length) {
  TY_CHECK(size_ == 0);
  return CopyBytes(descriptor, offset, length, file_.get());
}

Status StagedFile::FinishCopy(std::uint64_t length, Digests digests) {
  TY_TRY(const FileStamp stamp, Stamp());
  if (stamp.size != length) {
    return std::unexpected(Aborted("the source changed while it was copied"));
  }
  size_ = length;
  known_ = std::make_unique<Digests>(std::move(digests));
  return {};
}

Status StagedFile::Sync() {
  if (::fsync(file_.get()) != 0) return std::unexpected(ErrnoError(errno, "fsync the upload's file"));
  return {};
}

Digests StagedFile::digests() const { return known_ ? *known_ : checksum_.Get(); }

}  // namespace trainyard::storage
