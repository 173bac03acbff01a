#include "stores/storage/copied_records.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/async/beneath.h"
#include "base/async/file.h"
#include "base/sqlite/rows.h"
#include "rules/objects/path_escape.h"
#include "stores/storage/records.h"

namespace trainyard::storage {

namespace {

constexpr std::int64_t kNanosecondsPerMicrosecond = 1000;

struct Row {
  std::int64_t id = 0;
  std::string bucket;
  std::string object;
  FileStamp stamp;
};

FileStamp StampAt(const sqlite::Cursor& row, int column) {
  return {.size = static_cast<std::uint64_t>(row.Int(column)),
          .mtime_ns = row.Int(column + 1),
          .inode = static_cast<std::uint64_t>(row.Int(column + 2))};
}

/// In the order of buckets, so that each is opened once.
Result<std::vector<Row>> ReadRows(sqlite::Database& objects) {
  TY_TRY(sqlite::Statement statement,
         objects.Prepare("SELECT rowid, bucket, name, size, mtime_ns, inode FROM objects ORDER BY bucket"));
  return AllRows(statement.Query(), [](const sqlite::Cursor& row) {
    return Row{.id = row.Int(0),
               .bucket = std::string(row.Text(1)),
               .object = std::string(row.Text(2)),
               .stamp = StampAt(row, 3)};
  });
}

/// Keeps the directory of the last bucket open.
class OpenBuckets {
 public:
  explicit OpenBuckets(const std::string& root) : root_(OpenFile(root, O_RDONLY | O_DIRECTORY)) {}

  std::optional<FileStamp> StampOf(const Row& row) {
    if (!root_) return std::nullopt;
    if (row.bucket != name_) {
      name_ = row.bucket;
      Result<UniqueFd> folder = OpenFolderBeneath(root_->get(), std::span(&name_, 1));
      folder_ = folder ? *std::move(folder) : UniqueFd();
    }
    if (!folder_) return std::nullopt;
    const Result<UniqueFd> file = OpenObject(folder_.get(), EscapeObject(row.object));
    if (!file) return std::nullopt;
    const Result<FileStamp> stamp = storage::StampOf(file->get());
    return stamp ? std::optional(*stamp) : std::nullopt;
  }

 private:
  Result<UniqueFd> root_;
  std::string name_;
  UniqueFd folder_;
};

/// The name of the object whose file has that path; nothing: there is none.
std::optional<std::string> ObjectAt(std::string_view path) {
  std::string object;
  for (bool more = true; more;) {
    const std::size_t end = path.find('/');
    more = end != std::string_view::npos;
    const std::optional<EntryName> entry = DecodeEntry(path.substr(0, end));
    if (!entry) return std::nullopt;
    object += entry->text;
    if (more && !entry->piece) object += '/';
    if (more) path.remove_prefix(end + 1);
  }
  return object;
}

bool IsSameContent(const FileStamp& one, const FileStamp& other) {
  return one.size == other.size && one.mtime_ns == other.mtime_ns;
}

}  // namespace

Result<PlacedFiles> PlacedFiles::Read(sqlite::Database& objects) {
  // A record of a file that a program wrote has the file's time as its generation (BucketFiles::Find).
  TY_TRY(sqlite::Statement statement,
         objects.Prepare("SELECT size, mtime_ns, inode, generation FROM objects"));
  PlacedFiles placed;
  TY_RETURN_IF_ERROR(EachRow(statement.Query(), [&](const sqlite::Cursor& row) {
    const FileStamp stamp = StampAt(row, 0);
    if (row.Int(3) != std::max<std::int64_t>(stamp.mtime_ns / kNanosecondsPerMicrosecond, 1))
      placed.by_inode_.insert_or_assign(stamp.inode, stamp);
  }));
  return placed;
}

bool PlacedFiles::Has(const FileStamp& stamp) const {
  const auto found = by_inode_.find(stamp.inode);
  return found != by_inode_.end() && found->second == stamp;
}

struct RecordsMeanwhile::Impl {
  Records records;
  std::vector<ObjectRecord> kept{};
};

RecordsMeanwhile::RecordsMeanwhile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordsMeanwhile::RecordsMeanwhile(RecordsMeanwhile&&) noexcept = default;
RecordsMeanwhile::~RecordsMeanwhile() = default;

Result<RecordsMeanwhile> RecordsMeanwhile::Open(const std::string& objects) {
  TY_TRY(Records records, Records::Open(objects));
  return RecordsMeanwhile(std::make_unique<Impl>(std::move(records)));
}

/// A record is written before its file gets the name, and is kept until the second later file has got it.
Status RecordsMeanwhile::Keep(std::string_view path, const FileStamp& stamp) {
  const std::size_t end = path.find('/');
  if (end == std::string_view::npos) return {};
  const std::optional<std::string> object = ObjectAt(path.substr(end + 1));
  if (!object) return {};
  TY_TRY(std::vector<ObjectRecord> found,
         impl_->records.FindObjects(std::string(path.substr(0, end)), *object));
  const auto own = std::ranges::find(found, stamp, &ObjectRecord::stamp);
  if (own != found.end()) impl_->kept.push_back(std::move(*own));
  return {};
}

Status RecordsMeanwhile::PutInto(const std::string& objects) const {
  if (impl_->kept.empty()) return {};
  TY_TRY(Records copy, Records::Open(objects));
  return copy.PutObjects(impl_->kept);
}

Result<AdoptedCopies> AdoptCopies(const std::string& objects, const std::string& copied_from,
                                  const std::string& buckets) {
  TY_TRY(sqlite::Database database, sqlite::Database::OpenAsItIs(objects));
  TY_TRY(const std::vector<Row> rows, ReadRows(database));
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  TY_TRY(sqlite::Statement update, database.Prepare("UPDATE objects SET inode = ?2 WHERE rowid = ?1"));
  OpenBuckets before(copied_from);
  OpenBuckets now(buckets);
  AdoptedCopies adopted;
  for (const Row& row : rows) {
    const std::optional<FileStamp> linked = before.StampOf(row);
    if (linked && linked->inode == row.stamp.inode && *linked != row.stamp) {
      ++adopted.changed_count;
      if (adopted.changed.size() < kChangedNamesMax)
        adopted.changed.push_back("gs://" + row.bucket + "/" + row.object);
    }
    const std::optional<FileStamp> copy = now.StampOf(row);
    if (!copy || !IsSameContent(*copy, row.stamp)) continue;
    TY_RETURN_IF_ERROR(update.Run(row.id, copy->inode));
    ++adopted.adopted;
  }
  TY_RETURN_IF_ERROR(transaction.Commit());
  return adopted;
}

}  // namespace trainyard::storage
