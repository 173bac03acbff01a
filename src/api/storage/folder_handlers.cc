#include "api/storage/folder_handlers.h"

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/ml/job_request.h"
#include "api/storage/folder_archive.h"
#include "api/storage/storage_handlers_request.h"
#include "api/system_parameters.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/folders.pb.h"

namespace trainyard::api {

namespace {

using control::v1::FolderRemoval;
using control::v1::FolderSummary;
using std::chrono::steady_clock;

/// Limits of counting a directory, whichever is reached first.
struct CountLimits {
  std::int64_t objects = 0;
  std::chrono::seconds time{};
};
constexpr CountLimits kSummaryLimits{.objects = 1'000'000, .time = std::chrono::seconds(2)};
constexpr std::int64_t kRemovedMax = 5'000;
constexpr std::chrono::seconds kRemovingMax{1};
/// A zip's end lists its entries, so the server keeps them in memory until then: some 100 bytes each, and
/// their names.
constexpr std::int64_t kZipEntriesMax = 100'000;
constexpr std::int64_t kZipNameBytesMax = std::int64_t{32} << 20;
constexpr CountLimits kZipLimits{.objects = kZipEntriesMax, .time = std::chrono::seconds(60)};
constexpr std::int64_t kTarEntriesMax = std::int64_t{1} << 40;
constexpr FolderArchive::Limits kZipHas{.entries = kZipEntriesMax, .name_bytes = kZipNameBytesMax};
constexpr FolderArchive::Limits kTarHas{.entries = kTarEntriesMax,
                                        .name_bytes = std::numeric_limits<std::int64_t>::max()};

awaitable<Status> RequireList(const Request& request) {
  return storage_api::RequireOnBucket(request, "storage.objects.list", request.Parameter("bucket"));
}

void AddObject(const storage::v1::Object& object, FolderSummary& summary) {
  summary.set_objects(summary.objects() + 1);
  summary.set_bytes(summary.bytes() + static_cast<std::int64_t>(object.size()));
  const SysTime newest = summary.has_newest() ? wire::FromProto(summary.newest()) : SysTime::min();
  if (wire::FromProto(object.updated()) > newest) *summary.mutable_newest() = object.updated();
}

using Look = std::function<void(const storage::v1::Object& object)>;

/// Sets `more` beyond the limits. `look` is called for each object, in order; may be empty.
awaitable<Result<FolderSummary>> Count(storage::Buckets& buckets, std::string bucket, std::string prefix,
                                       CountLimits limits, Look look) {
  const steady_clock::time_point end = steady_clock::now() + limits.time;
  FolderSummary summary;
  for (std::string token;;) {
    storage::NameQuery query{.prefix = prefix, .page_token = token};
    TY_CO_TRY(const storage::v1::Objects page, co_await buckets.ListAsKnown(bucket, std::move(query)));
    for (const storage::v1::Object& object : page.items()) {
      AddObject(object, summary);
      if (look) look(object);
    }
    token = page.next_page_token();
    if (token.empty()) co_return summary;
    if (summary.objects() < limits.objects && steady_clock::now() < end) continue;
    summary.set_more(true);
    co_return summary;
  }
}

/// Checks the limits before anything is sent, where that is possible.
awaitable<Status> CheckZip(storage::Buckets& buckets, const FolderArchive::Folder& folder) {
  packing::EntryNames names(folder.top);
  std::int64_t name_bytes = 0;
  Look look = [&](const storage::v1::Object& object) {
    const std::string_view below = std::string_view(object.name()).substr(folder.prefix.size());
    if (!below.empty())
      name_bytes += static_cast<std::int64_t>(names.NameOf(below, object.size() == 0).size());
  };
  TY_CO_TRY(const FolderSummary summary,
            co_await Count(buckets, folder.bucket, folder.prefix, kZipLimits, std::move(look)));
  if (summary.more() || summary.objects() > kZipEntriesMax)
    co_return std::unexpected(InvalidArgument(
        "format",
        "A zip can contain at most " + std::to_string(kZipEntriesMax) + " objects. Use tar instead"));
  if (name_bytes > kZipNameBytesMax)
    co_return std::unexpected(InvalidArgument("format", "The names in a zip can have at most " +
                                                            std::to_string(kZipNameBytesMax >> 20) +
                                                            " MiB. Use tar instead"));
  co_return Status();
}

awaitable<Result<http::StreamPart>> NextPart(std::shared_ptr<Folders> /*alive*/,
                                             std::shared_ptr<FolderArchive> archive) {
  TY_CO_TRY(std::string piece, co_await archive->Next());
  co_return http::StreamPart(std::move(piece));
}

/// Deletes the objects of a page. False: the time or number of one call is used up.
awaitable<Result<bool>> RemoveListed(storage::Buckets& buckets, const std::string& bucket,
                                     const storage::v1::Objects& page, steady_clock::time_point end,
                                     FolderRemoval& removal) {
  for (int at = 0; at < page.items_size();) {
    if (removal.objects() >= kRemovedMax || steady_clock::now() >= end) co_return false;
    std::vector<std::string> names;
    for (; at < page.items_size() && names.size() < storage::kDeletedAtOnceMax; ++at)
      names.push_back(page.items(at).name());
    TY_CO_TRY(const std::size_t removed, co_await DeleteMany(buckets, bucket, std::move(names)));
    removal.set_objects(removal.objects() + static_cast<std::int64_t>(removed));
  }
  co_return true;
}

}  // namespace

awaitable<Result<Response>> SummarizeFolder(Folders& folders, Request& request) {
  TY_CO_TRY(std::string prefix, ReadFolder(request));
  std::string bucket = request.Parameter("bucket");
  TY_CO_TRY(const FolderSummary summary,
            co_await Count(folders.buckets, std::move(bucket), std::move(prefix), kSummaryLimits, nullptr));
  co_return Response::Json(wire::PrintJson(summary));
}

awaitable<Result<Response>> DownloadFolder(Folders& folders, Request& request) {
  TY_CO_TRY(std::string prefix, ReadFolder(request));
  TY_CO_TRY(const FolderFormat format, ReadFolderFormat(request));
  TY_CO_RETURN_IF_ERROR(co_await RequireList(request));
  const std::string& bucket = request.Parameter("bucket");
  const std::string name = NameOfFolder(bucket, prefix);
  FolderArchive::Folder folder{.bucket = bucket, .prefix = std::move(prefix), .top = name};
  const bool is_zip = format == FolderFormat::kZip;
  TY_CO_TRY(const storage::v1::Bucket present, co_await folders.buckets.GetBucket(bucket));
  if (is_zip) TY_CO_RETURN_IF_ERROR(co_await CheckZip(folders.buckets, folder));
  auto archive = std::make_shared<FolderArchive>(folders.buckets, folders.archives, std::move(folder),
                                                 is_zip ? packing::MakeZipWriter() : packing::MakeTarWriter(),
                                                 is_zip ? kZipHas : kTarHas);
  Response response;
  SetAttachment(is_zip ? "application/zip" : "application/x-tar", name + (is_zip ? ".zip" : ".tar"),
                response.headers);
  response.body = http::StreamBody{
      .next = [folders = folders.shared_from_this(), archive] { return NextPart(folders, archive); }};
  co_return response;
}

awaitable<Result<Response>> RemoveFolder(Folders& folders, Request& request) {
  TY_CO_TRY(const std::string prefix, ReadFolder(request));
  TY_CO_RETURN_IF_ERROR(co_await RequireList(request));
  const std::string& bucket = request.Parameter("bucket");
  const steady_clock::time_point end = steady_clock::now() + kRemovingMax;
  FolderRemoval removal;
  for (std::string token;;) {
    storage::NameQuery query{.prefix = prefix, .page_token = token};
    TY_CO_TRY(const storage::v1::Objects page,
              co_await folders.buckets.ListAsKnown(bucket, std::move(query)));
    TY_CO_TRY(const bool all, co_await RemoveListed(folders.buckets, bucket, page, end, removal));
    token = page.next_page_token();
    if (all && !token.empty()) continue;
    removal.set_more(!all);
    co_return Response::Json(wire::PrintJson(removal));
  }
}

namespace {

constexpr std::size_t kPrefixBytesMax = 1024;  // as long as an object's name

}  // namespace

Result<std::string> ReadFolder(const http::Request& request) {
  std::string prefix(request.Query("prefix"));
  const auto wrong = [](const char* why) { return std::unexpected(InvalidArgument("prefix", why)); };
  if (!request.HasQuery("prefix"))
    return wrong("This parameter is required: a folder, such as \"run_1/\", or \"\" for the whole bucket");
  if (!prefix.empty() && !prefix.ends_with('/'))
    return wrong("Must end in \"/\", or be empty for the whole bucket");
  if (prefix.size() > kPrefixBytesMax) return wrong("Must not be longer than 1024 bytes");
  if (!wire::IsUtf8(prefix)) return wrong("Must be UTF-8");
  return prefix;
}

Result<FolderFormat> ReadFolderFormat(const http::Request& request) {
  const std::string_view format = request.Query("format");
  if (format.empty() || format == "zip") return FolderFormat::kZip;
  if (format == "tar") return FolderFormat::kTar;
  return std::unexpected(InvalidArgument("format", "Must be zip or tar"));
}

std::string NameOfFolder(const std::string& bucket, const std::string& prefix) {
  if (prefix.empty()) return SafeFileName(bucket);
  const std::string_view path = std::string_view(prefix).substr(0, prefix.size() - 1);
  return SafeFileName(path.substr(path.rfind('/') + 1));
}

}  // namespace trainyard::api
