#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "stores/storage/buckets_state.h"
#include "stores/storage/hasher.h"
#include "stores/storage/staged_file.h"

// Copies, moves and joins of objects.
namespace trainyard::storage {
namespace {

/// A file that several tasks write in turns. Removing a large file takes a while, so that happens on the
/// pool, too.
std::shared_ptr<StagedFile> Shared(StagedFile staged, asio::thread_pool& files) {
  const auto remove = [&files](StagedFile* file) {
    asio::post(files, [owned = std::unique_ptr<StagedFile>(file)]() mutable { owned.reset(); });
  };
  return {new StagedFile(std::move(staged)), remove};
}

asio::awaitable<Status> DeleteSources(Buckets& buckets, v1::Object composed,
                                      std::vector<ComposeSource> sources) {
  for (const ComposeSource& source : sources) {
    if (source.object == composed.name()) continue;
    const Status removed = co_await buckets.Delete(composed.bucket(), source.object, source.when);
    if (!removed && removed.error().code != Code::kNotFound) co_return removed;
  }
  co_return Status();
}

/// The sources' versions are fixed by this.
asio::awaitable<Result<std::vector<OpenedObject>>> OpenParts(BucketFiles& names, asio::thread_pool& pool,
                                                             std::string bucket,
                                                             std::vector<ComposeSource>& sources) {
  std::vector<OpenedObject> opened;
  for (ComposeSource& source : sources) {
    auto open = [&names, bucket, source] { return names.OpenObject(bucket, source.object, source.when); };
    TY_CO_TRY(OpenedObject part, co_await OnPool(pool, std::move(open)));
    source.when.generation = part.resource.generation();
    opened.push_back(std::move(part));
  }
  co_return opened;
}

}  // namespace

asio::awaitable<Result<CountedWrite>> BeginCounted(BucketFiles& names, asio::thread_pool& pool, v1::Object to,
                                                   Conditions when, bool moves) {
  // In one step, so that the object to be replaced cannot be deleted before this write counts.
  auto begin = [&names, to, when, moves]() -> Result<CountedWrite> {
    TY_TRY(BegunWrite begun, names.BeginWrite(to, when, moves));
    UnfinishedWrites::Target target{.bucket = to.bucket(), .object = to.name()};
    auto counting = names.staging().writes().Begin(RandomHex<16>(), std::move(target), begun.present);
    return CountedWrite{std::move(begun), std::move(counting)};
  };
  co_return co_await OnPool(pool, std::move(begin));
}

/// The source's bytes as a file of the uploads: another name for the source if it moves, otherwise a copy.
asio::awaitable<Result<StagedFile>> Buckets::State::Staged(OpenedObject source, std::string bucket,
                                                           std::string id, bool moves) {
  const Digests digests{.md5_hash = source.resource.md5_hash(), .crc32c = source.resource.crc32c()};
  const auto from = std::make_shared<OpenedObject>(std::move(source));  // shared with the pool
  if (moves) {
    auto link = [this, from, digests, id] {
      return StagedFile::Link(names.staging().folder(), id, from->file.get(), from->stamp.size, digests);
    };
    TY_CO_TRY(auto linked, co_await OnPool(files, std::move(link)));
    if (linked) co_return *std::move(linked);
  }
  auto create = [this, from, bucket, id]() -> Result<StagedFile> {
    TY_RETURN_IF_ERROR(names.staging().Grow(id, bucket, from->stamp.size));
    return StagedFile::Create(names.staging().folder(), id);
  };
  TY_CO_TRY(StagedFile created, co_await OnPool(files, std::move(create)));
  const auto staged = Shared(std::move(created), files);
  auto copy = [this, from, staged, bucket](std::uint64_t offset, std::uint64_t length) -> Status {
    TY_RETURN_IF_ERROR(names.staging().CheckSpace(bucket));
    return staged->CopySlice(from->file.get(), offset, length);
  };
  const std::uint64_t size = from->stamp.size;
  asio::thread_pool& pool = size <= kSliceBytes ? files : hasher.large();
  TY_CO_RETURN_IF_ERROR(co_await InSlices(pool, size, copy));
  auto finish = [from, staged, digests]() -> Status {
    TY_RETURN_IF_ERROR(staged->FinishCopy(from->stamp.size, digests));
    TY_TRY(const FileStamp after, StampOf(from->file.get()));
    if (after != from->stamp) {
      return std::unexpected(Aborted("the source changed while it was copied"));
    }
    return staged->Sync();
  };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(files, std::move(finish)));
  co_return std::move(*staged);
}

asio::awaitable<Result<v1::Object>> Buckets::Copy(Transfer transfer) {
  TY_CO_TRY(OpenedObject source,
            co_await state_->Open(transfer.from_bucket, transfer.from_object, transfer.from_when));
  TY_CO_TRY(source, co_await state_->hasher.WithChecksums(std::move(source)));
  co_return co_await state_->Transferred(std::move(transfer), std::move(source), false);
}

asio::awaitable<Result<v1::Object>> Buckets::Move(Transfer transfer) {
  TY_CO_TRY(OpenedObject source,
            co_await state_->Open(transfer.from_bucket, transfer.from_object, transfer.from_when));
  TY_CO_TRY(source, co_await state_->hasher.WithChecksums(std::move(source)));
  if (transfer.from_bucket != transfer.to.bucket() || transfer.from_object == transfer.to.name()) {
    co_return std::unexpected(
        InvalidArgument({}, "An object moves to another name in its bucket; copy it to another bucket."));
  }
  co_return co_await state_->Transferred(std::move(transfer), std::move(source), true);
}

asio::awaitable<Result<v1::Object>> Buckets::State::Transferred(Transfer transfer, OpenedObject source,
                                                                bool moves) {
  v1::Object to = transfer.replaces_metadata ? transfer.to : source.resource;
  to.set_bucket(transfer.to.bucket());
  to.set_name(transfer.to.name());
  to.set_component_count(source.resource.component_count());
  std::optional<v1::Object> moved_from;
  if (moves) moved_from = source.resource;
  TY_CO_TRY(CountedWrite write, co_await BeginCounted(names, names_pool, to, transfer.to_when, moves));
  TY_CO_TRY(StagedFile staged, co_await Staged(std::move(source), to.bucket(), write.counting.id(), moves));
  co_return co_await Place(std::move(staged), std::move(to), transfer.to_when, std::move(write.begun.bucket),
                           std::move(moved_from));
}

asio::awaitable<Result<v1::Object>> Buckets::Compose(v1::Object destination,
                                                     std::vector<ComposeSource> sources, Conditions when,
                                                     bool deletes_sources) {
  if (sources.empty() || sources.size() > kComposeSourcesMax) {
    co_return std::unexpected(InvalidArgument(
        {}, "The number of source components must be 1 to 32, but it is " + std::to_string(sources.size())));
  }
  TY_CO_TRY(CountedWrite write, co_await BeginCounted(state_->names, state_->names_pool, destination, when));
  TY_CO_TRY(std::vector<OpenedObject> opened,
            co_await OpenParts(state_->names, state_->names_pool, destination.bucket(), sources));
  auto create = [this, id = write.counting.id()] {
    return StagedFile::Create(state_->names.staging().folder(), id);
  };
  TY_CO_TRY(StagedFile created, co_await OnPool(state_->files, std::move(create)));
  const auto staged = Shared(std::move(created), state_->files);
  std::int32_t components = 0;
  for (OpenedObject& each : opened) {
    components += std::max(each.resource.component_count(), 1);
    const std::uint64_t size = each.stamp.size;
    const auto part = std::make_shared<OpenedObject>(std::move(each));
    auto append = [this, staged, part, bucket = destination.bucket()](std::uint64_t offset,
                                                                      std::uint64_t length) -> Status {
      TY_RETURN_IF_ERROR(state_->names.staging().Grow(staged->id(), bucket, length));
      return staged->AppendFile(part->file.get(), offset, length);
    };
    TY_CO_RETURN_IF_ERROR(co_await InSlices(state_->hasher.large(), size, append));
  }
  auto sync = [staged] { return staged->Sync(); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(state_->files, std::move(sync)));
  destination.set_component_count(components);
  TY_CO_TRY(v1::Object composed,
            co_await state_->Place(std::move(*staged), destination, when, std::move(write.begun.bucket)));
  if (!deletes_sources) co_return composed;
  TY_CO_RETURN_IF_ERROR(co_await DeleteSources(*this, destination, std::move(sources)));
  co_return composed;
}

}  // namespace trainyard::storage
