#include "stores/storage/buckets.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/async/remove_tree.h"
#include "base/check.h"
#include "base/text/base64.h"
#include "stores/storage/buckets_state.h"
#include "stores/storage/checksum.h"
#include "stores/storage/folder.h"
#include "stores/storage/resource.h"
#include "stores/storage/staged_file.h"

namespace trainyard::storage {
namespace {

/// Computing checksums takes 1.2 s per GB; one page of a list computes them for at most this many bytes.
constexpr std::uint64_t kListHashBytesMax = std::uint64_t{64} << 20;
/// How many of these files are open at the same time.
constexpr std::size_t kListHashFilesMax = 64;

/// Records read, or directories removed, in one turn on the thread for names: about 2 ms.
constexpr std::size_t kTurnNames = 64;
constexpr std::size_t kTurnFolders = 512;

/// The next `kTurnNames` of the names.
std::vector<std::string> TakeTurn(const std::vector<std::string>& names, std::size_t from) {
  const auto begin = names.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(kTurnNames, names.size() - from))};
}

}  // namespace

Buckets::State::State(BucketFiles opened, const Clock& clock, asio::thread_pool& pool)
    : files(pool),
      names(std::move(opened)),
      hasher(names, names_pool),
      content({.small = files, .large = hasher.large()}),
      uploads(names, {.names = names_pool, .files = files, .large = hasher.large()},
              names.options().expiry_clock != nullptr ? *names.options().expiry_clock : clock) {}

Buckets::State::~State() {
  lists_pool.join();
  names_pool.join();
}

asio::awaitable<void> Buckets::State::HashSome(std::vector<v1::Object*> objects) {
  auto open = [this, objects] {
    std::vector<OpenedObject> opened;
    for (const v1::Object* object : objects) {
      Conditions same;
      same.generation = object->generation();
      auto one = names.OpenObject(object->bucket(), object->name(), same);
      if (one) opened.push_back(*std::move(one));  // otherwise it was deleted in the meantime
    }
    return opened;
  };
  std::vector<OpenedObject> opened = co_await OnPool(names_pool, std::move(open));
  const auto hashed = co_await hasher.HashSmall(std::move(opened));
  if (!hashed) co_return;  // one changed while it was read: the next list has its checksums
  for (v1::Object* object : objects) {
    const auto found = std::ranges::find(*hashed, object->name(),
                                         [](const OpenedObject& one) { return one.resource.name(); });
    if (found != hashed->end()) *object = found->resource;
  }
}

asio::awaitable<Result<v1::Object>> Buckets::State::Place(StagedFile staged, v1::Object resource,
                                                          Conditions when, UniqueFd bucket,
                                                          std::optional<v1::Object> moved_from) {
  return OnPool(names_pool, [this, staged = std::move(staged), resource = std::move(resource), when,
                             bucket = std::move(bucket), moved_from = std::move(moved_from)]() mutable {
    return names.Place(staged, std::move(resource), when, bucket, moved_from ? &*moved_from : nullptr);
  });
}

Buckets::Buckets(std::unique_ptr<State> state) : state_(std::move(state)) {}
Buckets::~Buckets() = default;

Result<std::unique_ptr<Buckets>> Buckets::Open(Options options, const Clock& clock,
                                               asio::thread_pool& files) {
  TY_TRY(BucketFiles names, BucketFiles::Open(options, clock));
  auto state = std::make_unique<State>(std::move(names), clock, files);
  return std::unique_ptr<Buckets>(new Buckets(std::move(state)));
}

bool Buckets::creates_on_use() const noexcept { return state_->names.options().create_on_use; }
asio::thread_pool& Buckets::files() noexcept { return state_->files; }
Uploads& Buckets::uploads() noexcept { return state_->uploads; }

asio::awaitable<Result<v1::Bucket>> Buckets::EnsureBucket(std::string name) {
  return state_->OnNames(&BucketFiles::EnsureBucket, std::move(name));
}

asio::awaitable<Result<v1::Bucket>> Buckets::InsertBucket(v1::Bucket bucket) {
  return state_->OnNames(&BucketFiles::InsertBucket, std::move(bucket), BucketMaker::kRequest);
}

bool Buckets::IsByUpload(const std::string& name) const { return state_->names.records().IsByUpload(name); }

asio::awaitable<Status> Buckets::ConfirmBucket(std::string name) {
  return OnPool(state_->names_pool, [&records = state_->names.records(), name = std::move(name)] {
    return records.ConfirmBucket(name);
  });
}

asio::awaitable<Result<v1::Bucket>> Buckets::GetBucket(std::string name, Conditions when) {
  return state_->OnNames(&BucketFiles::GetBucket, std::move(name), std::move(when));
}

asio::awaitable<Result<v1::Bucket>> Buckets::EditBucket(std::string name, BucketEdit edit, Conditions when) {
  return state_->OnNames(&BucketFiles::EditBucket, std::move(name), std::move(edit), std::move(when));
}

asio::awaitable<Result<v1::Buckets>> Buckets::ListBuckets(std::string prefix, std::string page_token,
                                                          std::size_t results_max) {
  const std::optional<std::string> from = text::FromBase64(page_token);
  if (!from) co_return std::unexpected(InvalidArgument({}, "malformed base64"));
  TY_CO_TRY(std::vector<std::string> names,
            co_await state_->OnLists(&BucketFiles::BucketNames, std::move(prefix)));
  names.erase(names.begin(), std::ranges::lower_bound(names, *from));
  v1::Buckets page;
  page.set_kind("storage#buckets");
  for (std::size_t at = 0; at < names.size();) {
    if (static_cast<std::size_t>(page.items_size()) == results_max) {
      page.set_next_page_token(text::Base64(names[at]));
      break;
    }
    std::vector<std::string> some = TakeTurn(names, at);
    some.resize(std::min(some.size(), results_max - static_cast<std::size_t>(page.items_size())));
    at += some.size();
    TY_CO_TRY(auto found, co_await state_->OnNames(&BucketFiles::DescribeBuckets, std::move(some)));
    for (v1::Bucket& bucket : found) *page.add_items() = std::move(bucket);
  }
  co_return page;
}

asio::awaitable<Result<std::vector<std::string>>> Buckets::BucketNames() {
  return state_->OnLists(&BucketFiles::BucketNames, std::string_view());
}

asio::awaitable<Status> Buckets::DeleteBucket(std::string name, Conditions when) {
  TY_CO_RETURN_IF_ERROR(co_await state_->OnNames(&BucketFiles::CheckDeletable, name, when));
  TY_CO_RETURN_IF_ERROR(co_await state_->OnLists(&BucketFiles::CheckEmpty, name));
  // There may be millions of nested directories: a few are removed at a time, and a file aborts it.
  TY_CO_TRY(TreeRemover begun, co_await state_->OnNames(&BucketFiles::BeginClearing, name));
  const auto remover = std::make_shared<TreeRemover>(std::move(begun));  // shared with the pool
  while (true) {
    auto step = [remover] { return remover->Step(kTurnFolders); };
    const Result<bool> done = co_await OnPool(state_->names_pool, std::move(step));
    if (!done) co_return std::unexpected(BucketFiles::NotEmpty(done.error()));
    if (*done) break;
  }
  co_return co_await state_->OnNames(&BucketFiles::DropEmptyBucket, name, when);
}

asio::awaitable<Result<v1::Object>> Buckets::Stat(std::string bucket, std::string object, Conditions when) {
  TY_CO_TRY(OpenedObject opened, co_await state_->Open(std::move(bucket), std::move(object), when));
  TY_CO_TRY(opened, co_await state_->hasher.WithChecksums(std::move(opened)));
  co_return std::move(opened.resource);
}

asio::awaitable<Result<ReadableObject>> Buckets::OpenRead(std::string bucket, std::string object,
                                                          Conditions when) {
  TY_CO_TRY(OpenedObject opened, co_await state_->Open(std::move(bucket), std::move(object), when));
  co_return ReadableObject{.resource = std::move(opened.resource), .file = std::move(opened.file)};
}

asio::awaitable<Result<v1::Objects>> Buckets::ListAsKnown(std::string bucket, NameQuery query) {
  TY_CO_TRY(const NamePage found,
            co_await state_->OnLists(&BucketFiles::ListNames, bucket, std::move(query)));
  v1::Objects page;
  page.set_kind("storage#objects");
  page.set_next_page_token(found.next_page_token);
  page.mutable_prefixes()->Add(found.prefixes.begin(), found.prefixes.end());
  for (std::size_t at = 0; at < found.objects.size(); at += kTurnNames) {
    TY_CO_TRY(auto objects,
              co_await state_->OnNames(&BucketFiles::Describe, bucket, TakeTurn(found.objects, at)));
    for (v1::Object& object : objects) *page.add_items() = std::move(object);
  }
  co_return page;
}

asio::awaitable<Result<v1::Objects>> Buckets::List(std::string bucket, NameQuery query) {
  TY_CO_TRY(v1::Objects page, co_await ListAsKnown(std::move(bucket), std::move(query)));
  std::uint64_t budget = kListHashBytesMax;
  std::vector<v1::Object*> unhashed;
  for (v1::Object& object : *page.mutable_items()) {
    if (HasChecksums(object) || object.size() > budget) continue;
    budget -= object.size();
    unhashed.push_back(&object);
    if (unhashed.size() < kListHashFilesMax) continue;
    std::vector<v1::Object*> some = std::exchange(unhashed, {});
    co_await state_->HashSome(std::move(some));
  }
  if (!unhashed.empty()) co_await state_->HashSome(std::move(unhashed));
  co_return page;
}

asio::awaitable<Status> Buckets::Delete(std::string bucket, std::string object, Conditions when) {
  return state_->OnNames(&BucketFiles::Remove, std::move(bucket), std::move(object), std::move(when));
}

asio::awaitable<Result<v1::Object>> Buckets::Edit(std::string bucket, std::string object, ObjectEdit edit,
                                                  Conditions when) {
  TY_CO_TRY(v1::Object changed,
            co_await state_->OnNames(&BucketFiles::Edit, bucket, object, std::move(edit), when));
  if (HasChecksums(changed)) co_return changed;
  co_return co_await Stat(std::move(bucket), std::move(object));
}

asio::awaitable<Result<ObjectWriter>> Buckets::BeginWrite(v1::Object resource, Conditions when) {
  TY_CO_TRY(CountedWrite write, co_await BeginCounted(state_->names, state_->names_pool, resource, when));
  co_return ObjectWriter(state_->files, state_->names, std::move(resource), when, std::move(write));
}

asio::awaitable<Result<v1::Object>> Buckets::Finish(ObjectWriter writer) {
  TY_CO_RETURN_IF_ERROR(co_await writer.Append({}));  // an empty object was never appended to
  auto seal = [staged = writer.staged_, resource = writer.resource_]() -> Status {
    TY_RETURN_IF_ERROR(CheckDigests(resource, (*staged)->digests()));
    return (*staged)->Sync();
  };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(state_->files, std::move(seal)));
  StagedFile staged = *std::move(*writer.staged_);
  writer.staged_.reset();
  co_return co_await state_->Place(std::move(staged), std::move(writer.resource_), writer.when_,
                                   std::move(writer.bucket_));
}

ObjectWriter::ObjectWriter(asio::thread_pool& files, const BucketFiles& names, v1::Object resource,
                           Conditions when, CountedWrite write)
    : files_(&files),
      names_(&names),
      resource_(std::move(resource)),
      when_(when),
      bucket_(std::move(write.begun.bucket)),
      counting_(std::move(write.counting)),
      staged_(std::make_shared<std::optional<StagedFile>>()) {}

ObjectWriter::ObjectWriter(ObjectWriter&&) noexcept = default;

ObjectWriter::~ObjectWriter() {
  if (!staged_) return;
  // Removing a large file takes a while.
  auto remove = [staged = std::move(staged_)]() mutable { staged.reset(); };
  asio::post(*files_, std::move(remove));
}

asio::awaitable<Status> ObjectWriter::Append(std::string bytes) {
  return OnPool(*files_,
                [names = names_, bucket = resource_.bucket(), id = counting_.id(), staged = staged_,
                 bytes = std::move(bytes)]() -> Status {
                  if (!*staged) {
                    TY_TRY(StagedFile created, StagedFile::Create(names->staging().folder(), id));
                    staged->emplace(std::move(created));
                  }
                  return names->staging().Append(**staged, bucket, bytes);
                });
}

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

asio::awaitable<Result<std::string>> Sha256Of(Buckets& buckets, std::string bucket, std::string object) {
  Buckets::State& state = *buckets.state_;
  TY_CO_TRY(OpenedObject opened, co_await state.Open(std::move(bucket), std::move(object), {}));
  co_return co_await state.content.Of(std::move(opened));
}

}  // namespace trainyard::storage
