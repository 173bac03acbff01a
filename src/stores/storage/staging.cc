#include "stores/storage/staging.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "stores/storage/buckets.h"

namespace trainyard::storage {
namespace {

std::unexpected<Error> Failed(std::string_view what) { return std::unexpected(ErrnoError(errno, what)); }

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

Result<std::vector<std::string>> NamesIn(int folder) {
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> directory(own ? ::fdopendir(own.get()) : nullptr);
  if (!directory) return Failed("read a folder");
  [[maybe_unused]] const int closed_by_closedir = own.Release();
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0) {
    if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..")
      names.emplace_back(entry->d_name);
  }
  if (errno != 0) return Failed("read a folder");
  std::ranges::sort(names);
  return names;
}

Staging::Staging(const BucketOptions& options, const Clock& clock, UniqueFd folder)
    : clock_(options.expiry_clock != nullptr ? options.expiry_clock : &clock),
      check_space_(options.check_space),
      folder_(std::move(folder)),
      writes_({.meter = options.meter, .project_of = options.project_of}) {}

Status Staging::Sweep(Records& records,
                      const std::function<std::int64_t(const v1::Object& object)>& present) {
  TY_TRY(const auto expired, records.ExpiredUploads(clock_->Now().time_since_epoch().count()));
  for (const std::string& id : expired) TY_RETURN_IF_ERROR(records.DropUpload(id));
  TY_TRY(const auto names, NamesIn(folder()));
  for (const std::string& name : names) {
    TY_TRY(const auto upload, records.FindUpload(name));
    struct stat status{};
    if (!upload && ::unlinkat(folder(), name.c_str(), 0) != 0) return Failed("remove " + name);
    if (!upload || ::fstatat(folder(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    writes_.Restore(name, {.bucket = upload->resource.bucket(), .object = upload->resource.name()},
                    present(upload->resource), status.st_size,
                    SysTime(std::chrono::seconds(status.st_mtim.tv_sec)));
  }
  return {};
}

Status Staging::End(Records& records, const std::string& id) {
  writes_.End(id);
  ::unlinkat(folder(), id.c_str(), 0);
  return records.DropUpload(id);
}

Status Staging::EndAllOf(Records& records, const std::string& bucket) {
  TY_TRY(const auto ids, records.UploadsOf(bucket));
  for (const std::string& id : ids) {
    writes_.End(id);
    ::unlinkat(folder(), id.c_str(), 0);
  }
  return records.DropUploadsOf(bucket);
}

Status Staging::CheckSpace(const std::string& bucket) const {
  return check_space_ ? check_space_(bucket) : Status();
}

Status Staging::Grow(const std::string& id, const std::string& bucket, std::uint64_t bytes) {
  if (bytes > 0) TY_RETURN_IF_ERROR(CheckSpace(bucket));
  return writes_.Grow(id, static_cast<std::int64_t>(bytes), clock_->Now());
}

Status Staging::Append(StagedFile& staged, const std::string& bucket, std::string_view bytes) {
  TY_RETURN_IF_ERROR(Grow(staged.id(), bucket, bytes.size()));
  Status appended = staged.Append(bytes);
  if (appended) return appended;
  const auto none = -static_cast<std::int64_t>(bytes.size());
  [[maybe_unused]] const Status counted = writes_.Grow(staged.id(), none, clock_->Now());
  return appended;
}

}  // namespace trainyard::storage
