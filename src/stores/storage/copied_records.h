#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/storage/folder.h"

/// What a copy of the buckets needs to know of objects.db, and to change in its own. Blocking; any thread.
namespace trainyard::storage {

/// Files that the server put in place and has a record of: by the API they are only ever replaced by rename.
/// (A program in a replica may still write into one in place, through /gcs.)
class PlacedFiles {
 public:
  /// From objects.db, or from a snapshot of it.
  [[nodiscard]] static Result<PlacedFiles> Read(sqlite::Database& objects);
  [[nodiscard]] bool Has(const FileStamp& stamp) const;

 private:
  std::unordered_map<std::uint64_t, FileStamp> by_inode_;
};

/// Records of files that take the place of others while a copy is made: record and content of a copied object
/// are of one moment.
class RecordsMeanwhile {
 public:
  /// Opens the objects.db that its server goes on to write. kNotFound: there is none.
  [[nodiscard]] static Result<RecordsMeanwhile> Open(const std::string& objects);
  RecordsMeanwhile(RecordsMeanwhile&&) noexcept;
  ~RecordsMeanwhile();

  /// For a file that is open and about to be copied: keeps its record, if it has one now.
  /// @param path  below the folder of all buckets: "BUCKET/FOLDER/FILE".
  [[nodiscard]] Status Keep(std::string_view path, const FileStamp& stamp);
  /// Puts those that were kept into the copy's objects.db, which nobody has open. Durable.
  [[nodiscard]] Status PutInto(const std::string& objects) const;

 private:
  struct Impl;
  explicit RecordsMeanwhile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What AdoptCopies found.
struct AdoptedCopies {
  std::int64_t adopted = 0;
  std::int64_t changed_count = 0;      ///< files that were linked and have changed since
  std::vector<std::string> changed{};  ///< the first of those: "gs://BUCKET/OBJECT"
};
inline constexpr std::size_t kChangedNamesMax = 10;

/// Makes records hold again for files that were copied with their times: a record names its file's inode, and
/// a copy has another one. Compares with where the files were copied from: one that is still the record's
/// own file (a hard link) with another size or time was changed in place after the backup. Durable.
///
/// @param objects  path of the copy's objects.db; nothing else has it open.
[[nodiscard]] Result<AdoptedCopies> AdoptCopies(const std::string& objects, const std::string& copied_from,
                                                const std::string& buckets);

}  // namespace trainyard::storage
