#include "api/storage/folder_archive.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/async/on_pool.h"
#include "base/wire/time.h"

namespace trainyard::api {

using boost::asio::awaitable;
using packing::ArchiveWriter;

namespace {

constexpr std::size_t kReadBytes = std::size_t{512} << 10;
constexpr std::size_t kPieceBytesMin = std::size_t{128} << 10;
/// Limit on bytes read for one piece, for objects that compress to almost nothing: some 30 ms.
constexpr std::int64_t kReadAtOnceMax = std::int64_t{8} << 20;

}  // namespace

/// The object that is being read.
struct FolderArchive::Open {
  UniqueFd file;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};

namespace {

/// The result of a task on the pool.
struct PackedPiece {
  std::string bytes;
  bool is_done = false;  ///< the object was read to its end
};

/// Blocks.
template <class Open>
Result<PackedPiece> ReadPiece(Open& open, ArchiveWriter& writer) {
  PackedPiece made;
  std::string read(std::min<std::size_t>(kReadBytes, static_cast<std::size_t>(open.bytes - open.offset)),
                   '\0');
  const std::int64_t stop = std::min(open.bytes, open.offset + kReadAtOnceMax);
  bool is_short = false;
  while (open.offset < stop && made.bytes.size() < kPieceBytesMin) {
    const auto wanted =
        std::min<std::size_t>(read.size(), static_cast<std::size_t>(open.bytes - open.offset));
    const ssize_t got = ::pread(open.file.get(), read.data(), wanted, open.offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(ErrnoError(errno, "read an object"));
    is_short = got == 0;  // End() reports it
    if (is_short) break;
    open.offset += got;
    TY_RETURN_IF_ERROR(
        writer.Add(std::string_view(read).substr(0, static_cast<std::size_t>(got)), made.bytes));
  }
  made.is_done = is_short || open.offset == open.bytes;
  if (made.is_done) TY_RETURN_IF_ERROR(writer.End(made.bytes));
  return made;
}

}  // namespace

FolderArchive::FolderArchive(storage::Buckets& buckets, boost::asio::thread_pool& pool, Folder folder,
                             std::unique_ptr<ArchiveWriter> writer, Limits limits)
    : buckets_(buckets),
      pool_(pool),
      folder_(std::move(folder)),
      writer_(std::move(writer)),
      names_(folder_.top),
      left_(limits) {}

/// False: the directory has no more objects.
awaitable<Result<bool>> FolderArchive::NextPage() {
  if (std::exchange(has_listed_, true) && page_.next_page_token().empty()) co_return false;
  storage::NameQuery query{.prefix = folder_.prefix, .page_token = page_.next_page_token()};
  std::string bucket = folder_.bucket;
  TY_CO_TRY(page_, co_await buckets_.ListAsKnown(std::move(bucket), std::move(query)));
  at_ = 0;
  co_return true;
}

awaitable<Status> FolderArchive::BeginObject() {
  const std::string name = page_.items(at_++).name();
  const std::string below = name.substr(folder_.prefix.size());
  if (below.empty()) co_return Status();  // the directory's own marker object
  if (left_.entries-- <= 0 || left_.name_bytes <= 0)
    co_return std::unexpected(Error{Code::kResourceExhausted, "the folder has too many objects", {}});
  Result<storage::ReadableObject> opened = co_await buckets_.OpenRead(folder_.bucket, name);
  if (!opened && opened.error().code == Code::kNotFound) co_return Status();
  if (!opened) co_return std::unexpected(opened.error());
  const auto bytes = static_cast<std::int64_t>(opened->resource.size());
  packing::ArchiveEntry entry{.name = names_.NameOf(below, bytes == 0),
                              .bytes = bytes,
                              .modified = wire::FromProto(opened->resource.updated())};
  left_.name_bytes -= static_cast<std::int64_t>(entry.name.size());
  TY_CO_RETURN_IF_ERROR(writer_->Begin(entry, made_));
  open_ = std::make_shared<Open>(Open{.file = std::move(opened->file), .bytes = bytes});
  co_return Status();
}

/// One step; false: the archive is complete.
awaitable<Result<bool>> FolderArchive::Advance() {
  if (open_ != nullptr) {
    auto read = [open = open_, writer = writer_] { return ReadPiece(*open, *writer); };
    TY_CO_TRY(PackedPiece made, co_await OnPool(pool_, std::move(read)));
    if (made.is_done) open_.reset();
    made_ += made.bytes;
    co_return true;
  }
  while (at_ >= page_.items_size()) {
    TY_CO_TRY(const bool more, co_await NextPage());
    if (more) continue;
    co_return writer_->Finish(made_);
  }
  TY_CO_RETURN_IF_ERROR(co_await BeginObject());
  co_return true;
}

awaitable<Result<std::string>> FolderArchive::Next() {
  while (!is_done_ && made_.size() < kPieceBytesMin) {
    TY_CO_TRY(const bool more, co_await Advance());
    is_done_ = !more;
  }
  co_return std::exchange(made_, {});
}

}  // namespace trainyard::api
