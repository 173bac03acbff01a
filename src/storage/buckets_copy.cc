#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "async/on_pool.h"
#include "storage/buckets_state.h"
#include "storage/random_id.h"
#include "storage/slices.h"
#include "storage/staged_file.h"

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

}  // namespace

/// The source's bytes as a file of the uploads: another name for the source where it moves, else a copy.
asio::awaitable<Result<StagedFile>> Buckets::State::Staged(OpenedObject source, std::string bucket,
                                                           bool moves) {
  const Digests digests{.md5_hash = source.resource.md5_hash(), .crc32c = source.resource.crc32c()};
  const auto from = std::make_shared<OpenedObject>(std::move(source));  // shared with the pool
  if (moves) {
    auto link = [this, from, digests] {
      return StagedFile::Link(names.uploads(), RandomId(), from->file.get(), from->stamp.size, digests);
    };
    TY_CO_TRY(auto linked, co_await OnPool(files, std::move(link)));
    if (linked) co_return *std::move(linked);
  }
  auto create = [this] { return StagedFile::Create(names.uploads(), RandomId()); };
  TY_CO_TRY(StagedFile created, co_await OnPool(files, std::move(create)));
  const auto staged = Shared(std::move(created), files);
  auto copy = [this, from, staged, bucket](std::uint64_t offset, std::uint64_t length) -> Status {
    TY_RETURN_IF_ERROR(CheckSpace(names.options(), bucket));
    return staged->CopySlice(from->file.get(), offset, length);
  };
  const std::uint64_t size = from->stamp.size;
  asio::thread_pool& pool = size <= kSliceBytes ? files : hasher.large();
  TY_CO_RETURN_IF_ERROR(co_await InSlices(pool, size, copy));
  auto finish = [from, staged, digests]() -> Status {
    TY_RETURN_IF_ERROR(staged->FinishCopy(from->stamp.size, digests));
    TY_TRY(const FileStamp after, StampOf(from->file.get()));
    if (after != from->stamp) {
      return std::unexpected(Error{Code::kAborted, "the source changed while it was copied", {}});
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
  const std::string bucket = transfer.from_bucket;
  const std::string object = transfer.from_object;
  if (bucket == transfer.to.bucket() && object == transfer.to.name()) {
    co_return std::unexpected(InvalidArgument({}, "The source and the destination are the same object."));
  }
  Conditions same;
  same.generation = source.resource.generation();
  TY_CO_TRY(v1::Object moved, co_await state_->Transferred(std::move(transfer), std::move(source), true));
  // If the source was replaced in the meantime, the new version must not be removed.
  const Status removed = co_await Delete(bucket, object, same);
  if (!removed && removed.error().code != Code::kNotFound) co_return std::unexpected(removed.error());
  co_return moved;
}

asio::awaitable<Result<v1::Object>> Buckets::State::Transferred(Transfer transfer, OpenedObject source,
                                                                bool moves) {
  v1::Object to = transfer.replaces_metadata ? transfer.to : source.resource;
  to.set_bucket(transfer.to.bucket());
  to.set_name(transfer.to.name());
  to.set_component_count(source.resource.component_count());
  auto check = [this, to, when = transfer.to_when]() -> Status { return names.CheckWritable(to, when); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(names_pool, std::move(check)));
  TY_CO_TRY(StagedFile staged, co_await Staged(std::move(source), to.bucket(), moves));
  co_return co_await Place(std::move(staged), std::move(to), transfer.to_when);
}

asio::awaitable<Result<v1::Object>> Buckets::Compose(v1::Object destination,
                                                     std::vector<ComposeSource> sources, Conditions when,
                                                     bool deletes_sources) {
  if (sources.empty() || sources.size() > kComposeSourcesMax) {
    co_return std::unexpected(InvalidArgument(
        {}, "The number of source components must be 1 to 32, but it is " + std::to_string(sources.size())));
  }
  auto check = [this, destination, when]() -> Status {
    return state_->names.CheckWritable(destination, when);
  };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(state_->names_pool, std::move(check)));
  std::vector<OpenedObject> opened;
  std::int32_t components = 0;
  for (ComposeSource& source : sources) {
    TY_CO_TRY(OpenedObject part, co_await state_->Open(destination.bucket(), source.object, source.when));
    components += std::max(part.resource.component_count(), 1);
    source.when.generation = part.resource.generation();
    opened.push_back(std::move(part));
  }
  auto create = [this] { return StagedFile::Create(state_->names.uploads(), RandomId()); };
  TY_CO_TRY(StagedFile created, co_await OnPool(state_->files, std::move(create)));
  const auto staged = Shared(std::move(created), state_->files);
  for (OpenedObject& each : opened) {
    const std::uint64_t size = each.stamp.size;
    const auto part = std::make_shared<OpenedObject>(std::move(each));
    auto append = [this, staged, part, bucket = destination.bucket()](std::uint64_t offset,
                                                                      std::uint64_t length) -> Status {
      TY_RETURN_IF_ERROR(CheckSpace(state_->names.options(), bucket));
      return staged->AppendFile(part->file.get(), offset, length);
    };
    TY_CO_RETURN_IF_ERROR(co_await InSlices(state_->hasher.large(), size, append));
  }
  auto sync = [staged] { return staged->Sync(); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(state_->files, std::move(sync)));
  destination.set_component_count(components);
  TY_CO_TRY(v1::Object composed, co_await state_->Place(std::move(*staged), destination, when));
  if (!deletes_sources) co_return composed;
  for (const ComposeSource& source : sources) {
    if (source.object == destination.name()) continue;
    const Status removed = co_await Delete(destination.bucket(), source.object, source.when);
    if (!removed && removed.error().code != Code::kNotFound) co_return std::unexpected(removed.error());
  }
  co_return composed;
}

}  // namespace trainyard::storage
