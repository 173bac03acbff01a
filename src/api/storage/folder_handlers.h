#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>

#include "api/route.h"
#include "stores/storage/buckets.h"

namespace trainyard::api {

/// Directories of buckets (control/v1/folders.proto), given by the query's `prefix` (folder_request.h). The
/// functions require storage.objects.list and, in addition, storage.objects.get or storage.objects.delete.
/// The buckets outlive it. Loop thread.
struct Folders : std::enable_shared_from_this<Folders> {
  explicit Folders(storage::Buckets& all) : buckets(all) {}

  storage::Buckets& buckets;
  boost::asio::thread_pool archives{2};  ///< compressing uses CPUs: two downloads at full speed
};
Waits<Folders> SummarizeFolder, DownloadFolder, RemoveFolder;

}  // namespace trainyard::api
