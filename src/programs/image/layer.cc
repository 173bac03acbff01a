#include "programs/image/layer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "programs/image/archive_reader.h"
#include "programs/image/cache.h"
#include "programs/image/layer_folder.h"
#include "programs/image/reference.h"

namespace trainyard::image {

namespace {

constexpr const char* kWhatToDo = "; remove images that are not used (run: trainyard images remove --unused)";

constexpr std::size_t kZeroBlock = 4096;
/// Limit on the number of files of all kinds in one layer.
constexpr std::int64_t kEntriesMax = 8'000'000;
constexpr std::int64_t kUnpackedBytesMax = std::int64_t{1} << 40;

/// libarchive refuses names that the thread's locale cannot represent.
class Utf8Locale {
 public:
  Utf8Locale() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), former_(::uselocale(utf8_)) {}
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    ::uselocale(former_);
    if (utf8_ != nullptr) ::freelocale(utf8_);
  }

 private:
  locale_t utf8_;
  locale_t former_;
};

/// Whether libarchive succeeded. ARCHIVE_RETRY is not a warning: it reports a damaged tar header.
bool IsGood(int result) { return result == ARCHIVE_OK || result == ARCHIVE_WARN; }

std::string Reason(archive* reader) {
  const char* text = ::archive_error_string(reader);
  return text != nullptr ? text : "unknown reason";
}

Error Damaged(std::string_view why) {
  return {Code::kDataLoss, "a layer is damaged: " + std::string(why), {}};
}

/// The bytes of the tar inside the blob, hashed as they are read.
class Unpressed {
 public:
  [[nodiscard]] Status Open(const std::filesystem::path& blob) {
    TY_TRY(file_, OpenFile(blob, O_RDONLY));
    struct stat there{};
    if (::fstat(file_.get(), &there) != 0) return std::unexpected(ErrnoError(errno, "stat " + blob.string()));
    blob_bytes_ = there.st_size;
    budget_ = UnpackBudget(blob_bytes_);
    ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    reader_.reset(::archive_read_new());
    ::archive_read_support_filter_gzip(reader_.get());
    ::archive_read_support_filter_zstd(reader_.get());
    ::archive_read_support_format_raw(reader_.get());
    ::archive_read_support_format_empty(reader_.get());
    archive_entry* entry = nullptr;
    if (::archive_read_open_fd(reader_.get(), file_.get(), kReadBlock) != ARCHIVE_OK)
      return std::unexpected(Damaged(Reason(reader_.get())));
    const int began = ::archive_read_next_header(reader_.get(), &entry);
    ended_ = began == ARCHIVE_EOF;
    if (began == ARCHIVE_OK || ended_) return {};
    return std::unexpected(Damaged(Reason(reader_.get())));
  }

  /// The next bytes; empty at the end or after an error, which `failure` then has.
  std::string_view Next() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    while (!ended_ && !failed_ && size == 0) {
      const int result = ::archive_read_data_block(reader_.get(), &data, &size, &offset);
      ended_ = result == ARCHIVE_EOF;
      failed_ = !ended_ && result != ARCHIVE_OK;
    }
    if (ended_ || failed_) return {};
    // Count every byte, whatever the tar says: any amount of data may follow its end.
    if (Status spent = budget_.Spend(static_cast<std::int64_t>(size)); !spent) {
      refused_ = std::move(spent).error();
      failed_ = true;
      return {};
    }
    const std::string_view bytes(static_cast<const char*>(data), size);
    digester_.Add(bytes);
    return bytes;
  }

  [[nodiscard]] Result<std::string> Digest() {
    while (!Next().empty()) {  // what follows the end of the tar
    }
    if (failed_) return std::unexpected(Failure(Damaged(Reason(reader_.get()))));
    return digester_.Finish();
  }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Why there are no more bytes, if the reason is not damage; otherwise `other`.
  [[nodiscard]] Error Failure(Error other) const { return refused_ ? *refused_ : std::move(other); }
  [[nodiscard]] std::int64_t blob_bytes() const { return blob_bytes_; }

 private:
  UniqueFd file_;
  ArchivePtr reader_;
  Digester digester_;
  std::int64_t blob_bytes_ = 0;
  UnpackBudget budget_{0};
  std::optional<Error> refused_;
  bool ended_ = false;
  bool failed_ = false;
};

la_ssize_t ReadUnpressed(archive* reader, void* source, const void** buffer) {
  auto* unpressed = static_cast<Unpressed*>(source);
  const std::string_view bytes = unpressed->Next();
  if (unpressed->failed()) {
    ::archive_set_error(reader, EIO, "damaged compression");
    return -1;
  }
  *buffer = bytes.data();
  return static_cast<la_ssize_t>(bytes.size());
}

EntryAttributes AttributesOf(archive_entry* entry) {
  EntryAttributes attributes{
      .mode = ::archive_entry_perm(entry),
      .uid = static_cast<uid_t>(::archive_entry_uid(entry)),
      .gid = static_cast<gid_t>(::archive_entry_gid(entry)),
      .modified = {.tv_sec = ::archive_entry_mtime(entry), .tv_nsec = ::archive_entry_mtime_nsec(entry)},
      .xattrs = {}};
  ::archive_entry_xattr_reset(entry);
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  while (::archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK)
    attributes.xattrs.emplace_back(name, std::string(static_cast<const char*>(value), size));
  return attributes;
}

Status WriteAt(int descriptor, std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::unexpected(ErrnoError(errno, "write a layer"));
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += count;
  }
  return {};
}

bool IsZero(std::string_view bytes) {
  return bytes.front() == '\0' && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Blocks of zeros become holes.
Status WriteSparsely(int descriptor, std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const bool zero = IsZero(bytes.substr(0, kZeroBlock));
    std::size_t run = std::min(kZeroBlock, bytes.size());
    while (run < bytes.size() && IsZero(bytes.substr(run, kZeroBlock)) == zero)
      run = std::min(run + kZeroBlock, bytes.size());
    if (!zero) TY_RETURN_IF_ERROR(WriteAt(descriptor, bytes.substr(0, run), offset));
    bytes.remove_prefix(run);
    offset += static_cast<std::int64_t>(run);
  }
  return {};
}

class Unpacking {
 public:
  Unpacking(archive* reader, LayerFolder& folder, UnpackBudget budget, DiskGuard disk,
            const std::stop_token& stop)
      : reader_(reader), folder_(folder), budget_(budget), disk_(disk), stop_(stop) {}

  Result<std::int64_t> Run() {
    archive_entry* entry = nullptr;
    for (std::int64_t count = 0;; ++count) {
      if (stop_.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
      const int result = ::archive_read_next_header(reader_, &entry);
      if (result == ARCHIVE_EOF) break;
      if (!IsGood(result)) return std::unexpected(Damaged(Reason(reader_)));
      if (count == kEntriesMax)
        return std::unexpected(InvalidArgument({}, "a layer has more than 8 million files"));
      TY_RETURN_IF_ERROR(budget_.Spend(kEntryBytes));
      TY_RETURN_IF_ERROR(Add(entry));
      TY_RETURN_IF_ERROR(disk_.Wrote(kEntryBytes));
    }
    TY_RETURN_IF_ERROR(folder_.Finish());
    return bytes_;
  }

 private:
  Status Add(archive_entry* entry) {
    const char* name = ::archive_entry_pathname(entry);
    if (name == nullptr) return std::unexpected(InvalidArgument({}, "a layer has a file without a name"));
    const std::string path = name;
    const EntryAttributes attributes = AttributesOf(entry);
    if (LayerFolder::IsWhiteout(path)) return folder_.AddWhiteout(path);
    if (const char* target = ::archive_entry_hardlink(entry)) return folder_.AddHardLink(path, target);
    switch (::archive_entry_filetype(entry)) {
      case AE_IFREG: return AddFile(path, attributes, entry);
      case AE_IFDIR: return folder_.AddDirectory(path, attributes);
      case AE_IFLNK: return folder_.AddSymlink(path, ::archive_entry_symlink(entry), attributes);
      case AE_IFIFO: return folder_.AddNode(path, S_IFIFO, 0, attributes);
      case AE_IFCHR: return folder_.AddNode(path, S_IFCHR, ::archive_entry_rdev(entry), attributes);
      case AE_IFBLK: return folder_.AddNode(path, S_IFBLK, ::archive_entry_rdev(entry), attributes);
      default: break;
    }
    return std::unexpected(InvalidArgument({}, "a layer has something at '" + path + "' that is no file"));
  }

  Status AddFile(const std::string& path, const EntryAttributes& attributes, archive_entry* entry) {
    const std::int64_t size = ::archive_entry_size(entry);
    bytes_ += size;
    if (size < 0 || bytes_ > kUnpackedBytesMax)
      return std::unexpected(InvalidArgument({}, "a layer has more than 1 TiB of files"));
    TY_RETURN_IF_ERROR(budget_.Spend(size));  // before anything of it is written
    TY_TRY(const UniqueFd file, folder_.BeginFile(path));
    const void* data = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    while (true) {
      const int result = ::archive_read_data_block(reader_, &data, &count, &offset);
      if (result == ARCHIVE_EOF) break;
      if (!IsGood(result)) return std::unexpected(Damaged(Reason(reader_)));
      if (stop_.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
      if (count == 0) continue;
      TY_RETURN_IF_ERROR(WriteSparsely(file.get(), {static_cast<const char*>(data), count}, offset));
      TY_RETURN_IF_ERROR(disk_.Wrote(static_cast<std::int64_t>(count)));
    }
    return folder_.FinishFile(file.get(), path, size, attributes);
  }

  archive* reader_;
  LayerFolder& folder_;
  UnpackBudget budget_;  ///< by the sizes that the file headers announce
  DiskGuard disk_;
  const std::stop_token& stop_;
  std::int64_t bytes_ = 0;
};

}  // namespace

Status UnpackBudget::Spend(std::int64_t bytes) {
  bytes_ += std::clamp<std::int64_t>(bytes, 0, INT64_MAX - bytes_);
  if (bytes_ <= kUnpackedFreeBytes || bytes_ / kUnpackRatioMax <= blob_bytes_) return {};
  return std::unexpected(
      InvalidArgument({}, "a layer of " + PrintBytes(blob_bytes_) + " unpacks to " + PrintBytes(bytes_) +
                              " or more, which is over " + PrintBytes(kUnpackedFreeBytes) +
                              " and more than " + std::to_string(kUnpackRatioMax) +
                              " times its size: it is rejected; build the image without large empty files"));
}

std::int64_t DiskReserve(std::int64_t total) {
  return std::min(kDiskReserveBytes, total / kDiskReserveShare);
}

Status DiskGuard::Wrote(std::int64_t bytes) {
  since_look_ += bytes;
  if (since_look_ < kDiskLookBytes) return {};
  since_look_ = 0;
  struct statvfs disk{};
  if (::fstatvfs(folder_, &disk) != 0) return {};  // then the disk itself says when it is full
  const auto block = static_cast<std::int64_t>(disk.f_frsize);
  const std::int64_t free = static_cast<std::int64_t>(disk.f_bavail) * block;
  const std::int64_t reserve = DiskReserve(static_cast<std::int64_t>(disk.f_blocks) * block);
  if (free < reserve)
    return std::unexpected(Error{Code::kResourceExhausted,
                                 "the disk has " + PrintBytes(free) + " left, and " + PrintBytes(reserve) +
                                     " of it are kept free when a layer is unpacked" + kWhatToDo,
                                 {}});
  const auto files = static_cast<std::int64_t>(disk.f_files);
  const auto files_free = static_cast<std::int64_t>(disk.f_favail);
  if (files > 0 && files_free < files / kFilesReserveShare)
    return std::unexpected(
        Error{Code::kResourceExhausted,
              "the disk has inodes for " + std::to_string(files_free) +
                  " more files, and 1% of its inodes are kept free when a layer is unpacked" + kWhatToDo,
              {}});
  return {};
}

Result<std::int64_t> UnpackLayer(const std::filesystem::path& blob, const std::string& diff_id,
                                 const std::filesystem::path& folder, const std::stop_token& stop) {
  const Utf8Locale utf8;
  Unpressed unpressed;
  TY_RETURN_IF_ERROR(unpressed.Open(blob));
  TY_TRY(LayerFolder layer, LayerFolder::Open(folder));
  const ArchivePtr reader(::archive_read_new());
  ::archive_read_support_format_tar(reader.get());
  ::archive_read_support_format_empty(reader.get());
  if (::archive_read_open(reader.get(), &unpressed, nullptr, ReadUnpressed, nullptr) != ARCHIVE_OK) {
    if (unpressed.failed())
      return std::unexpected(unpressed.Failure(Damaged("its compression cannot be read")));
    return std::unexpected(InvalidArgument({}, "a layer is not a tar archive"));
  }
  TY_TRY(const UniqueFd disk, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  const UnpackBudget budget(unpressed.blob_bytes());
  const Result<std::int64_t> bytes =
      Unpacking(reader.get(), layer, budget, DiskGuard(disk.get()), stop).Run();
  if (!bytes) return std::unexpected(unpressed.Failure(bytes.error()));
  TY_TRY(const std::string digest, unpressed.Digest());
  if (digest != diff_id) return std::unexpected(Damaged("it is " + digest + " and should be " + diff_id));
  return bytes;
}

}  // namespace trainyard::image
