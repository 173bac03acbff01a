#include <archive.h>
#include <archive_entry.h>

#include <chrono>
#include <utility>

#include "base/packing/archive_writer.h"

namespace trainyard::packing {

namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

struct FreeArchive {
  void operator()(::archive* writer) const noexcept { ::archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(::archive_entry* entry) const noexcept { ::archive_entry_free(entry); }
};

la_ssize_t AppendTo(::archive*, void* out, const void* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

class TarWriter final : public ArchiveWriter {
 public:
  TarWriter() : writer_(::archive_write_new()) {
    // GNU's format stores names as raw bytes, in any locale; pax converts them.
    ::archive_write_set_format_gnutar(writer_.get());
    ::archive_write_set_bytes_per_block(writer_.get(), 0);
    ::archive_write_open(writer_.get(), &made_, nullptr, AppendTo, nullptr);
  }
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;
  ~TarWriter() override = default;

  Status Begin(const ArchiveEntry& entry, std::string& out) override {
    const bool is_folder = entry.name.ends_with('/');
    const std::unique_ptr<::archive_entry, FreeEntry> header(::archive_entry_new2(writer_.get()));
    ::archive_entry_copy_pathname(header.get(), entry.name.c_str());
    ::archive_entry_set_filetype(header.get(), is_folder ? AE_IFDIR : AE_IFREG);
    ::archive_entry_set_perm(header.get(), is_folder ? kFolderMode : kFileMode);
    ::archive_entry_set_size(header.get(), entry.bytes);
    ::archive_entry_set_mtime(
        header.get(), std::chrono::floor<std::chrono::seconds>(entry.modified).time_since_epoch().count(), 0);
    left_ = entry.bytes;
    return Done(::archive_write_header(writer_.get(), header.get()), out);
  }

  Status Add(std::string_view bytes, std::string& out) override {
    left_ -= static_cast<std::int64_t>(bytes.size());
    if (left_ < 0)
      return std::unexpected(Error{Code::kDataLoss, "an object became longer while it was read", {}});
    const la_ssize_t written = ::archive_write_data(writer_.get(), bytes.data(), bytes.size());
    return Done(written < 0 ? static_cast<int>(written) : ARCHIVE_OK, out);
  }

  Status End(std::string& out) override {
    if (left_ > 0)
      return std::unexpected(Error{Code::kDataLoss, "an object became shorter while it was read", {}});
    return Done(::archive_write_finish_entry(writer_.get()), out);
  }

  Result<bool> Finish(std::string& out) override {
    TY_RETURN_IF_ERROR(Done(::archive_write_close(writer_.get()), out));
    return false;
  }

 private:
  Status Done(int result, std::string& out) {
    out += std::exchange(made_, {});
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return {};
    const char* reason = ::archive_error_string(writer_.get());
    return std::unexpected(Internal(std::string("cannot write the archive: ") +
                                    (reason != nullptr ? reason : "unknown reason")));
  }

  std::string made_;  ///< declared before the writer, which appends to it when it is destroyed
  std::int64_t left_ = 0;
  std::unique_ptr<::archive, FreeArchive> writer_;
};

}  // namespace

std::unique_ptr<ArchiveWriter> MakeTarWriter() { return std::make_unique<TarWriter>(); }

}  // namespace trainyard::packing
