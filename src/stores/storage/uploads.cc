#include "stores/storage/uploads.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "base/text/hex.h"
#include "stores/storage/bucket_files.h"
#include "stores/storage/hasher.h"
#include "stores/storage/resource.h"
#include "stores/storage/staged_file.h"

namespace trainyard::storage {
namespace {

// Source: Cloud Storage's documentation of resumable uploads: a session URI expires after one week.
constexpr std::chrono::hours kUploadLifetime{24 * 7};
/// Uploads whose open files are kept between requests; the checksums of others are computed again from the
/// file when they continue.
constexpr std::size_t kLiveUploadsMax = 64;
constexpr std::size_t kIdLength = 32;

bool IsId(std::string_view id) { return id.size() == kIdLength && text::IsLowerHex(id); }

std::unexpected<Error> NoSuchUpload() {
  return std::unexpected(NotFound(
      "No such upload to this bucket; it ended, was cancelled or is older than a week. Start a new one."));
}

}  // namespace

struct Uploads::Live {
  Live(UploadRecord r, std::optional<StagedFile> s) : record(std::move(r)), staged(std::move(s)) {}
  UploadRecord record;
  std::optional<StagedFile> staged;  ///< absent: the upload is finished
  std::uint64_t received = 0;
  std::uint64_t turn = 0;
  bool busy = false;  ///< a task on a pool uses `staged`
};

Uploads::Uploads(BucketFiles& names, Pools pools, const Clock& clock)
    : names_(names), pools_(pools), clock_(clock) {}

Uploads::~Uploads() = default;

asio::awaitable<Result<std::string>> Uploads::Start(v1::Object resource, Conditions when,
                                                    std::optional<std::uint64_t> total) {
  UploadRecord record{
      .id = RandomHex<kIdLength / 2>(), .conditions = when, .total = total, .resource = std::move(resource)};
  record.expires_ns = (clock_.Now() + kUploadLifetime).time_since_epoch().count();
  const std::int64_t now_ns = clock_.Now().time_since_epoch().count();
  const std::string id = record.id;
  auto start = [this, record = std::move(record), now_ns]() -> Status {
    TY_TRY(const BegunWrite begun, names_.BeginWrite(record.resource, record.conditions));
    TY_TRY(const auto expired, names_.records().ExpiredUploads(now_ns));
    for (const std::string& old : expired) TY_RETURN_IF_ERROR(names_.staging().End(names_.records(), old));
    UnfinishedWrites::Target target{.bucket = record.resource.bucket(), .object = record.resource.name()};
    TY_TRY(const auto gives_way,
           names_.staging().writes().BeginUpload(record.id, std::move(target), begun.present, clock_.Now()));
    Status begins = gives_way ? names_.staging().End(names_.records(), *gives_way) : Status();
    if (begins) begins = Write(record);
    if (!begins) names_.staging().writes().End(record.id);
    return begins;
  };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(pools_.names, std::move(start)));
  co_return id;
}

Status Uploads::Write(const UploadRecord& record) {
  // The record is written first: the cleanup at the start removes files without one.
  TY_RETURN_IF_ERROR(names_.records().PutUpload(record));
  TY_TRY(StagedFile staged, StagedFile::Create(names_.staging().folder(), record.id));
  staged.Keep();
  if (::fsync(names_.staging().folder()) != 0)
    return std::unexpected(ErrnoError(errno, "fsync of the uploads"));
  return {};
}

void Uploads::ForgetIdle() {
  std::erase_if(live_, [](const auto& entry) { return !entry.second->busy && !entry.second->staged; });
  for (auto entry = live_.begin(); entry != live_.end() && live_.size() >= kLiveUploadsMax;) {
    entry = entry->second->busy ? std::next(entry) : live_.erase(entry);
  }
}

/// Reopens the upload's file and computes its checksums; nothing: it is gone.
asio::awaitable<Result<std::optional<StagedFile>>> Uploads::Reopen(std::string id) {
  auto reopen = [this, id] { return StagedFile::Reopen(names_.staging().folder(), id); };
  auto opened = co_await OnPool(pools_.files, std::move(reopen));
  if (!opened && opened.error().code == Code::kNotFound) co_return std::nullopt;
  if (!opened) co_return std::unexpected(std::move(opened).error());
  const auto staged = std::make_shared<StagedFile>(*std::move(opened));  // shared with the pool
  auto reread = [staged](std::uint64_t offset, std::uint64_t length) {
    return staged->Reread(offset, length);
  };
  TY_CO_RETURN_IF_ERROR(co_await InSlices(pools_.large, staged->size(), reread));
  co_return std::optional<StagedFile>(std::move(*staged));
}

asio::awaitable<Result<std::shared_ptr<Uploads::Live>>> Uploads::Load(std::string id, std::string bucket) {
  if (!IsId(id)) co_return NoSuchUpload();
  // The record is read each time: it may have been deleted with the upload's bucket.
  auto find = [this, id] { return names_.records().FindUpload(id); };
  TY_CO_TRY(auto record, co_await OnPool(pools_.names, std::move(find)));
  const auto kept = live_.find(id);
  const bool ended = !record || record->expires_ns < clock_.Now().time_since_epoch().count();
  if (ended && kept != live_.end() && !kept->second->busy) live_.erase(kept);
  if (ended || record->resource.bucket() != bucket) co_return NoSuchUpload();
  if (kept != live_.end()) co_return kept->second;
  TY_CO_TRY(auto staged, co_await Reopen(id));
  if (!staged && !record->complete) co_return NoSuchUpload();
  // Another request may have loaded it while this one waited: a file has only one writer.
  if (const auto found = live_.find(id); found != live_.end()) co_return found->second;
  ForgetIdle();
  auto live = std::make_shared<Live>(*std::move(record), std::move(staged));
  if (live->staged) live->received = live->staged->size();
  live_.emplace(std::move(id), live);
  co_return live;
}

asio::awaitable<Result<Uploads::Turn>> Uploads::Take(std::string id, std::string bucket) {
  TY_CO_TRY(const auto live, co_await Load(id, std::move(bucket)));
  if (live->busy)
    co_return std::unexpected(Unavailable("the upload's last bytes are being written; ask again"));
  Turn turn{.id = std::move(id),
            .number = ++live->turn,
            .received = live->received,
            .total = live->record.total,
            .may_replace = live->record.conditions.if_generation_match != 0};
  if (!live->staged) {
    turn.done = live->record.resource;
    co_return turn;
  }
  turn.complete = live->record.complete || (turn.total && *turn.total == turn.received);
  TY_CO_TRY(turn.received, co_await Sync(turn));
  co_return turn;
}

Result<std::shared_ptr<Uploads::Live>> Uploads::Holding(const Turn& turn) {
  const auto found = live_.find(turn.id);
  if (found == live_.end() || found->second->turn != turn.number || found->second->busy ||
      !found->second->staged) {
    return std::unexpected(Aborted("the upload goes on in another request, or was cancelled"));
  }
  return found->second;
}

asio::awaitable<Status> Uploads::Append(Turn turn, std::string bytes) {
  TY_CO_TRY(const auto live, Holding(turn));
  live->busy = true;
  auto write = [this, live, bytes = std::move(bytes)]() -> Status {
    return names_.staging().Append(*live->staged, live->record.resource.bucket(), bytes);
  };
  const Status written = co_await OnPool(pools_.files, std::move(write));
  live->busy = false;
  live->received = live->staged->size();
  co_return written;
}

asio::awaitable<Result<std::uint64_t>> Uploads::Sync(Turn turn) {
  TY_CO_TRY(const auto live, Holding(turn));
  live->busy = true;
  auto sync = [live] { return live->staged->Sync(); };
  const Status synced = co_await OnPool(pools_.files, std::move(sync));
  live->busy = false;
  TY_CO_RETURN_IF_ERROR(synced);
  co_return live->received;
}

asio::awaitable<Result<v1::Object>> Uploads::Finish(Turn turn, v1::Object sent) {
  TY_CO_TRY(const auto live, Holding(turn));
  live->busy = true;
  auto seal = [live, sent = std::move(sent)]() -> Status {
    const Digests digests = live->staged->digests();
    TY_RETURN_IF_ERROR(CheckDigests(sent, digests));
    TY_RETURN_IF_ERROR(CheckDigests(live->record.resource, digests));
    return live->staged->Sync();
  };
  const Status sealed = co_await OnPool(pools_.files, std::move(seal));
  live->busy = false;
  if (!sealed) {
    if (sealed.error().code == Code::kInvalidArgument) co_await Drop(live);
    co_return std::unexpected(sealed.error());
  }
  live->busy = true;
  auto place = [this, live] { return names_.Place(*live->staged, live->record); };
  Result<v1::Object> placed = co_await OnPool(pools_.names, std::move(place));
  live->busy = false;
  if (placed) {
    live->record.resource = *placed;
    live->record.complete = true;
    live->staged.reset();
  } else if (placed.error().code == Code::kFailedPrecondition || placed.error().code == Code::kNotFound) {
    co_await Drop(live);  // it can never be placed
  }
  co_return placed;
}

asio::awaitable<void> Uploads::Drop(std::shared_ptr<Live> live) {
  live_.erase(live->record.id);
  auto drop = [this, live] {
    [[maybe_unused]] const Status dropped =
        names_.staging().End(names_.records(), live->record.id);  // if that fails, it expires later
    live->staged.reset();
  };
  co_await OnPool(pools_.names, std::move(drop));
}

asio::awaitable<Status> Uploads::Cancel(std::string id, std::string bucket) {
  TY_CO_TRY(const auto live, co_await Load(std::move(id), std::move(bucket)));
  if (live->busy)
    co_return std::unexpected(Unavailable("the upload's last bytes are being written; ask again"));
  if (!live->staged) co_return NoSuchUpload();
  co_await Drop(live);
  co_return Status();
}

}  // namespace trainyard::storage
