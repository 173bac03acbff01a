#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>

#include "api/route.h"
#include "net/http/message.h"
#include "stores/storage/buckets.h"

namespace trainyard::api {

/// Directories of buckets (control/v1/folders.proto), given by the query's `prefix` (ReadFolder). The
/// functions require storage.objects.list and, in addition, storage.objects.get or storage.objects.delete.
/// The buckets outlive it. Loop thread.
struct Folders : std::enable_shared_from_this<Folders> {
  explicit Folders(storage::Buckets& all) : buckets(all) {}

  storage::Buckets& buckets;
  boost::asio::thread_pool archives{2};  ///< compressing uses CPUs: two downloads at full speed
};
Waits<Folders> SummarizeFolder, DownloadFolder, RemoveFolder;

// Parses the query parameters of requests for a directory (control/v1/folders.proto). Pure: any thread.

/// `prefix`: the common prefix of the directory's objects. It ends in "/", or is empty for the whole bucket;
/// it must be present even then, so that a forgotten parameter does not mean everything. kInvalidArgument
/// with field "prefix".
[[nodiscard]] Result<std::string> ReadFolder(const http::Request& request);

enum class FolderFormat { kZip, kTar };
/// `format`: zip if absent. kInvalidArgument with field "format".
[[nodiscard]] Result<FolderFormat> ReadFolderFormat(const http::Request& request);

/// The directory's own name: "run_1" of "jobs/run_1/", the bucket's for the whole bucket. Safe
/// (SafeFileName).
[[nodiscard]] std::string NameOfFolder(const std::string& bucket, const std::string& prefix);

}  // namespace trainyard::api
