#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/on_pool.h"
#include "stores/storage/bucket_files.h"
#include "stores/storage/buckets.h"
#include "stores/storage/hasher.h"
#include "stores/storage/uploads.h"

namespace trainyard::storage {

/// A write under way. Counts as long as this lives.
struct CountedWrite {
  BegunWrite begun;
  UnfinishedWrites::Counting counting;
};

/// BucketFiles::BeginWrite, and counts the write. @param pool  the thread of `names`.
asio::awaitable<Result<CountedWrite>> BeginCounted(BucketFiles& names, asio::thread_pool& pool, v1::Object to,
                                                   Conditions when, bool moves = false);

/// The internals of Buckets. Four kinds of threads, so that slow work does not delay the others: `names_pool`
/// (one: changes of names and records, short steps), `lists_pool` (reading whole directories),
/// `files` (bytes of uploads), and those of the hasher (checksums and copies of large files, in slices).
struct Buckets::State {
  State(BucketFiles opened, const Clock& clock, asio::thread_pool& pool);
  ~State();

  asio::thread_pool& files;
  BucketFiles names;
  asio::thread_pool names_pool{1};
  asio::thread_pool lists_pool{2};
  Hasher hasher;
  ContentDigests content;
  Uploads uploads;

  /// Runs a method of BucketFiles on the thread for names.
  template <class Method, class... Args>
  auto OnNames(Method method, Args... args) {
    return OnPool(names_pool, [this, method, ... args = std::move(args)]() mutable {
      return std::invoke(method, names, args...);
    });
  }
  /// The same for methods that read whole directories.
  template <class Method, class... Args>
  auto OnLists(Method method, Args... args) {
    return OnPool(lists_pool, [this, method, ... args = std::move(args)]() mutable {
      return std::invoke(method, names, args...);
    });
  }
  asio::awaitable<Result<OpenedObject>> Open(std::string bucket, std::string object, Conditions when) {
    return OnNames(&BucketFiles::OpenObject, std::move(bucket), std::move(object), std::move(when));
  }
  /// Fills in checksums where possible. At most kListHashFilesMax objects, all of one bucket.
  asio::awaitable<void> HashSome(std::vector<v1::Object*> objects);
  asio::awaitable<Result<v1::Object>> Place(StagedFile staged, v1::Object resource, Conditions when,
                                            UniqueFd bucket,
                                            std::optional<v1::Object> moved_from = std::nullopt);
  asio::awaitable<Result<StagedFile>> Staged(OpenedObject source, std::string bucket, std::string id,
                                             bool moves);
  asio::awaitable<Result<v1::Object>> Transferred(Transfer transfer, OpenedObject source, bool moves);
};

}  // namespace trainyard::storage
