#include "storage/buckets.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "async/on_pool.h"
#include "storage/bucket_files.h"
#include "storage/random_id.h"
#include "storage/resource.h"
#include "storage/staged_file.h"
#include "storage/uploads.h"

namespace trainyard::storage {
namespace {

/// Reading what is new to us for its checksums takes 1.2 s per GB; a page of a list spends at most this much
/// on it.
constexpr std::uint64_t kListHashBytesMax = std::uint64_t{64} << 20;
/// As many are open at a time.
constexpr std::size_t kListHashFilesMax = 64;

Result<Digests> DigestsOf(const OpenedObject& opened) {
  Checksum checksum;
  TY_RETURN_IF_ERROR(AddFile(checksum, opened.file.get(), opened.stamp.size));
  return checksum.Get();
}

}  // namespace

struct Buckets::State {
  State(BucketFiles opened, const Clock& clock, asio::thread_pool& pool)
      : files(pool), names(std::move(opened)), uploads(names, names_pool, files, clock) {}
  ~State() { names_pool.join(); }

  asio::thread_pool& files;
  BucketFiles names;
  asio::thread_pool names_pool{1};
  Uploads uploads;

  asio::awaitable<Result<OpenedObject>> Open(std::string bucket, std::string object, Conditions when);
  asio::awaitable<Result<OpenedObject>> WithChecksums(OpenedObject opened);
  asio::awaitable<Result<std::vector<OpenedObject>>> Hashed(std::vector<OpenedObject> opened);
  /// Fills in checksums where that works. At most kListHashFilesMax objects, all of one bucket.
  asio::awaitable<void> HashSome(std::vector<v1::Object*> objects);
  asio::awaitable<Result<v1::Object>> Place(StagedFile staged, v1::Object resource, Conditions when);
  asio::awaitable<Result<v1::Object>> Transferred(Transfer transfer, OpenedObject source, bool moves);
};

asio::awaitable<Result<OpenedObject>> Buckets::State::Open(std::string bucket, std::string object,
                                                           Conditions when) {
  auto open = [this, bucket = std::move(bucket), object = std::move(object), when] {
    return names.OpenObject(bucket, object, when);
  };
  co_return co_await OnPool(names_pool, std::move(open));
}

asio::awaitable<Result<OpenedObject>> Buckets::State::WithChecksums(OpenedObject opened) {
  if (HasChecksums(opened.resource)) co_return std::move(opened);
  std::vector<OpenedObject> one;
  one.push_back(std::move(opened));
  TY_CO_TRY(one, co_await Hashed(std::move(one)));
  co_return std::move(one.front());
}

asio::awaitable<Result<std::vector<OpenedObject>>> Buckets::State::Hashed(std::vector<OpenedObject> opened) {
  auto read = [opened = std::move(opened)]() mutable -> Result<std::vector<OpenedObject>> {
    for (OpenedObject& object : opened) {
      TY_TRY(const Digests digests, DigestsOf(object));
      object.resource.set_md5_hash(digests.md5_hash);
      object.resource.set_crc32c(digests.crc32c);
    }
    return std::move(opened);
  };
  TY_CO_TRY(auto hashed, co_await OnPool(files, std::move(read)));
  auto keep = [this, hashed = std::move(hashed)]() mutable {
    // What cannot be kept (a full disk) is made again next time.
    [[maybe_unused]] const Status kept = names.KeepChecksums(hashed);
    return std::move(hashed);
  };
  co_return co_await OnPool(names_pool, std::move(keep));
}

asio::awaitable<void> Buckets::State::HashSome(std::vector<v1::Object*> objects) {
  auto open = [this, objects] {
    std::vector<OpenedObject> opened;
    for (const v1::Object* object : objects) {
      Conditions same;
      same.generation = object->generation();
      auto one = names.OpenObject(object->bucket(), object->name(), same);
      if (one) opened.push_back(*std::move(one));  // else it went away meanwhile
    }
    return opened;
  };
  std::vector<OpenedObject> opened = co_await OnPool(names_pool, std::move(open));
  const auto hashed = co_await Hashed(std::move(opened));
  if (!hashed) co_return;  // one changed while it was read: the next list has its checksums
  for (v1::Object* object : objects) {
    const auto found = std::ranges::find(*hashed, object->name(),
                                         [](const OpenedObject& one) { return one.resource.name(); });
    if (found != hashed->end()) *object = found->resource;
  }
}

asio::awaitable<Result<v1::Object>> Buckets::State::Place(StagedFile staged, v1::Object resource,
                                                          Conditions when) {
  auto place = [this, staged = std::move(staged), resource = std::move(resource), when]() mutable {
    return names.Place(staged, std::move(resource), when);
  };
  co_return co_await OnPool(names_pool, std::move(place));
}

Buckets::Buckets(std::unique_ptr<State> state) : state_(std::move(state)) {}
Buckets::~Buckets() = default;

Result<std::unique_ptr<Buckets>> Buckets::Open(Options options, const Clock& clock,
                                               asio::thread_pool& files) {
  const BucketFiles::Options names_options{.data = std::move(options.data),
                                           .create_on_use = options.create_on_use};
  TY_TRY(BucketFiles names, BucketFiles::Open(names_options, clock));
  auto state = std::make_unique<State>(std::move(names), clock, files);
  return std::unique_ptr<Buckets>(new Buckets(std::move(state)));
}

asio::thread_pool& Buckets::files() noexcept { return state_->files; }
Uploads& Buckets::uploads() noexcept { return state_->uploads; }

asio::awaitable<Result<v1::Bucket>> Buckets::EnsureBucket(std::string name) {
  auto ensure = [this, name = std::move(name)] { return state_->names.EnsureBucket(name); };
  co_return co_await OnPool(state_->names_pool, std::move(ensure));
}

asio::awaitable<Result<v1::Bucket>> Buckets::InsertBucket(v1::Bucket bucket) {
  auto insert = [this, bucket = std::move(bucket)] { return state_->names.InsertBucket(bucket); };
  co_return co_await OnPool(state_->names_pool, std::move(insert));
}

asio::awaitable<Result<v1::Bucket>> Buckets::GetBucket(std::string name, Conditions when) {
  auto get = [this, name = std::move(name), when = std::move(when)] {
    return state_->names.GetBucket(name, when);
  };
  co_return co_await OnPool(state_->names_pool, std::move(get));
}

asio::awaitable<Result<v1::Bucket>> Buckets::EditBucket(std::string name, BucketEdit edit, Conditions when) {
  auto change = [this, name = std::move(name), edit = std::move(edit), when = std::move(when)] {
    return state_->names.EditBucket(name, edit, when);
  };
  co_return co_await OnPool(state_->names_pool, std::move(change));
}

asio::awaitable<Result<v1::Buckets>> Buckets::ListBuckets(std::string prefix, std::string page_token,
                                                          std::size_t results_max) {
  TY_CO_TRY(const std::string from, FromBase64(page_token));
  auto list = [this, prefix = std::move(prefix)] { return state_->names.ListBuckets(prefix); };
  TY_CO_TRY(auto all, co_await OnPool(state_->names_pool, std::move(list)));
  v1::Buckets page;
  page.set_kind("storage#buckets");
  for (v1::Bucket& bucket : all) {
    if (bucket.name() < from) continue;
    if (static_cast<std::size_t>(page.items_size()) == results_max) {
      page.set_next_page_token(Base64(bucket.name()));
      break;
    }
    *page.add_items() = std::move(bucket);
  }
  co_return page;
}

asio::awaitable<Status> Buckets::DeleteBucket(std::string name, Conditions when) {
  auto remove = [this, name = std::move(name), when] { return state_->names.DeleteBucket(name, when); };
  co_return co_await OnPool(state_->names_pool, std::move(remove));
}

asio::awaitable<Result<v1::Object>> Buckets::Stat(std::string bucket, std::string object, Conditions when) {
  TY_CO_TRY(OpenedObject opened, co_await state_->Open(std::move(bucket), std::move(object), when));
  TY_CO_TRY(opened, co_await state_->WithChecksums(std::move(opened)));
  co_return std::move(opened.resource);
}

asio::awaitable<Result<ReadableObject>> Buckets::OpenRead(std::string bucket, std::string object,
                                                          Conditions when) {
  TY_CO_TRY(OpenedObject opened, co_await state_->Open(std::move(bucket), std::move(object), when));
  co_return ReadableObject{.resource = std::move(opened.resource), .file = std::move(opened.file)};
}

asio::awaitable<Result<v1::Objects>> Buckets::List(std::string bucket, NameQuery query) {
  auto list = [this, bucket, query = std::move(query)] { return state_->names.List(bucket, query); };
  TY_CO_TRY(ObjectPage found, co_await OnPool(state_->names_pool, std::move(list)));
  v1::Objects page;
  page.set_kind("storage#objects");
  page.set_next_page_token(found.next_page_token);
  page.mutable_prefixes()->Add(found.prefixes.begin(), found.prefixes.end());
  std::uint64_t budget = kListHashBytesMax;
  std::vector<v1::Object*> unhashed;
  for (v1::Object& object : found.objects) {
    if (HasChecksums(object) || object.size() > budget) continue;
    budget -= object.size();
    unhashed.push_back(&object);
    if (unhashed.size() < kListHashFilesMax) continue;
    std::vector<v1::Object*> some = std::exchange(unhashed, {});
    co_await state_->HashSome(std::move(some));
  }
  if (!unhashed.empty()) co_await state_->HashSome(std::move(unhashed));
  for (v1::Object& object : found.objects) *page.add_items() = std::move(object);
  co_return page;
}

asio::awaitable<Status> Buckets::Delete(std::string bucket, std::string object, Conditions when) {
  auto remove = [this, bucket = std::move(bucket), object = std::move(object), when] {
    return state_->names.Remove(bucket, object, when);
  };
  co_return co_await OnPool(state_->names_pool, std::move(remove));
}

asio::awaitable<Result<v1::Object>> Buckets::Edit(std::string bucket, std::string object, ObjectEdit edit,
                                                  Conditions when) {
  auto change = [this, bucket, object, edit = std::move(edit), when] {
    return state_->names.Edit(bucket, object, edit, when);
  };
  TY_CO_TRY(v1::Object changed, co_await OnPool(state_->names_pool, std::move(change)));
  if (HasChecksums(changed)) co_return changed;
  co_return co_await Stat(std::move(bucket), std::move(object));
}

asio::awaitable<Result<ObjectWriter>> Buckets::BeginWrite(v1::Object resource, Conditions when) {
  auto check = [this, resource, when]() -> Status { return state_->names.CheckWritable(resource, when); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(state_->names_pool, std::move(check)));
  co_return ObjectWriter(state_->files, state_->names.uploads(), std::move(resource), when);
}

asio::awaitable<Result<v1::Object>> Buckets::Finish(ObjectWriter writer) {
  TY_CO_RETURN_IF_ERROR(co_await writer.Append({}));  // an empty object has had no piece
  auto seal = [staged = writer.staged_, resource = writer.resource_]() -> Status {
    TY_RETURN_IF_ERROR(CheckDigests(resource, (*staged)->digests()));
    return (*staged)->Sync();
  };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(state_->files, std::move(seal)));
  StagedFile staged = *std::move(*writer.staged_);
  writer.staged_.reset();
  co_return co_await state_->Place(std::move(staged), std::move(writer.resource_), writer.when_);
}

asio::awaitable<Result<v1::Object>> Buckets::Copy(Transfer transfer) {
  TY_CO_TRY(OpenedObject source,
            co_await state_->Open(transfer.from_bucket, transfer.from_object, transfer.from_when));
  TY_CO_TRY(source, co_await state_->WithChecksums(std::move(source)));
  co_return co_await state_->Transferred(std::move(transfer), std::move(source), false);
}

asio::awaitable<Result<v1::Object>> Buckets::Move(Transfer transfer) {
  TY_CO_TRY(OpenedObject source,
            co_await state_->Open(transfer.from_bucket, transfer.from_object, transfer.from_when));
  TY_CO_TRY(source, co_await state_->WithChecksums(std::move(source)));
  const std::string bucket = transfer.from_bucket;
  const std::string object = transfer.from_object;
  if (bucket == transfer.to.bucket() && object == transfer.to.name()) {
    co_return std::unexpected(InvalidArgument({}, "The source and the destination are the same object."));
  }
  Conditions same;
  same.generation = source.resource.generation();
  TY_CO_TRY(v1::Object moved, co_await state_->Transferred(std::move(transfer), std::move(source), true));
  // Somebody may have written or removed the source meanwhile: that version is not ours to remove.
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
  auto copy = [this, source = std::move(source), moves]() -> Result<StagedFile> {
    const int from = source.file.get();
    const Digests digests{.md5_hash = source.resource.md5_hash(), .crc32c = source.resource.crc32c()};
    if (moves) return StagedFile::Link(names.uploads(), RandomId(), from, source.stamp.size, digests);
    TY_TRY(StagedFile staged, StagedFile::Create(names.uploads(), RandomId()));
    TY_RETURN_IF_ERROR(staged.CopyFile(from, source.stamp.size, digests));
    TY_TRY(const FileStamp after, StampOf(from));
    if (after != source.stamp) {
      return std::unexpected(Error{Code::kAborted, "the source changed while it was copied", {}});
    }
    TY_RETURN_IF_ERROR(staged.Sync());
    return staged;
  };
  TY_CO_TRY(StagedFile staged, co_await OnPool(files, std::move(copy)));
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
  auto join = [this, opened = std::move(opened)]() -> Result<StagedFile> {
    TY_TRY(StagedFile staged, StagedFile::Create(state_->names.uploads(), RandomId()));
    for (const OpenedObject& part : opened) {
      TY_RETURN_IF_ERROR(staged.AppendFile(part.file.get(), part.stamp.size));
    }
    TY_RETURN_IF_ERROR(staged.Sync());
    return staged;
  };
  TY_CO_TRY(StagedFile staged, co_await OnPool(state_->files, std::move(join)));
  destination.set_component_count(components);
  TY_CO_TRY(v1::Object composed, co_await state_->Place(std::move(staged), destination, when));
  if (!deletes_sources) co_return composed;
  for (const ComposeSource& source : sources) {
    if (source.object == destination.name()) continue;
    const Status removed = co_await Delete(destination.bucket(), source.object, source.when);
    if (!removed && removed.error().code != Code::kNotFound) co_return std::unexpected(removed.error());
  }
  co_return composed;
}

ObjectWriter::ObjectWriter(asio::thread_pool& files, int uploads, v1::Object resource, Conditions when)
    : files_(&files),
      uploads_(uploads),
      resource_(std::move(resource)),
      when_(when),
      staged_(std::make_shared<std::optional<StagedFile>>()) {}

ObjectWriter::ObjectWriter(ObjectWriter&&) noexcept = default;

ObjectWriter::~ObjectWriter() {
  if (!staged_) return;
  // Removing a large file takes a while.
  auto remove = [staged = std::move(staged_)]() mutable { staged.reset(); };
  asio::post(*files_, std::move(remove));
}

asio::awaitable<Status> ObjectWriter::Append(std::string bytes) {
  auto write = [uploads = uploads_, staged = staged_, bytes = std::move(bytes)]() -> Status {
    if (!*staged) {
      TY_TRY(StagedFile created, StagedFile::Create(uploads, RandomId()));
      staged->emplace(std::move(created));
    }
    return (*staged)->Append(bytes);
  };
  co_return co_await OnPool(*files_, std::move(write));
}

}  // namespace trainyard::storage
