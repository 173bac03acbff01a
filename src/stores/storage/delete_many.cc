#include "stores/storage/delete_many.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/check.h"
#include "stores/storage/buckets_state.h"
#include "stores/storage/folder.h"

namespace trainyard::storage {

Result<std::size_t> RemoveMany(BucketFiles& files, const std::string& bucket,
                               std::span<const std::string> objects) {
  std::vector<ObjectPath> paths;
  std::vector<std::int64_t> sizes;
  for (const std::string& object : objects) {
    const Result<OpenedObject> opened = files.OpenObject(bucket, object, {});
    if (!opened && opened.error().code != Code::kNotFound) return std::unexpected(opened.error());
    paths.push_back(EscapeObject(object));
    sizes.push_back(opened ? static_cast<std::int64_t>(opened->stamp.size) : 0);
  }
  TY_TRY(const UniqueFd folder, files.OpenBucket(bucket));
  TY_TRY(const std::vector<bool> removed, RemoveFiles(folder.get(), paths));
  for (std::size_t i = 0; i < removed.size(); ++i)
    if (removed[i] && files.options().meter) files.options().meter->Add(bucket, -sizes[i]);
  // A record without a file is never used, so failing to drop it is no error.
  if (const Status dropped = files.records().DropObjects(bucket, objects); !dropped) {
    Diagnose(DiagnosticLevel::kWarning, "records of objects stay behind: " + dropped.error().message);
  }
  return static_cast<std::size_t>(std::ranges::count(removed, true));
}

asio::awaitable<Result<std::size_t>> DeleteMany(Buckets& buckets, std::string bucket,
                                                std::vector<std::string> objects) {
  TY_CHECK(objects.size() <= kDeletedAtOnceMax);
  auto remove = [&files = buckets.state_->names, bucket = std::move(bucket), objects = std::move(objects)] {
    return RemoveMany(files, bucket, objects);
  };
  co_return co_await OnPool(buckets.state_->names_pool, std::move(remove));
}

}  // namespace trainyard::storage
