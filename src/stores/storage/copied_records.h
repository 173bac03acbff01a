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

/// What a backup of the buckets needs from objects.db, and changes in its own copy. Blocking; any thread.
namespace trainyard::storage {

/// Files that the server has placed and has a record of: the API only ever replaces them by rename. (A
/// program in a replica may still write into one in place, through /gcs.)
class PlacedFiles {
 public:
  /// Reads objects.db, or a snapshot of it.
  [[nodiscard]] static Result<PlacedFiles> Read(sqlite::Database& objects);
  [[nodiscard]] bool Has(const FileStamp& stamp) const;

 private:
  std::unordered_map<std::uint64_t, FileStamp> by_inode_;
};

/// Records of files that are replaced while a copy is made, so that record and content of a copied object
/// match.
class RecordsMeanwhile {
 public:
  /// Opens the objects.db while its server keeps writing to it. kNotFound: there is none.
  [[nodiscard]] static Result<RecordsMeanwhile> Open(const std::string& objects);
  RecordsMeanwhile(RecordsMeanwhile&&) noexcept;
  ~RecordsMeanwhile();

  /// For a file that is open and about to be copied: remembers its record, if it has one now.
  /// @param path  below the directory of all buckets: "BUCKET/FOLDER/FILE".
  [[nodiscard]] Status Keep(std::string_view path, const FileStamp& stamp);
  /// Writes the remembered records to the copy's objects.db, which nobody else has open. Durable.
  [[nodiscard]] Status PutInto(const std::string& objects) const;

 private:
  struct Impl;
  explicit RecordsMeanwhile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The result of AdoptCopies.
struct AdoptedCopies {
  std::int64_t adopted = 0;
  std::int64_t changed_count = 0;      ///< files that were linked and have changed since
  std::vector<std::string> changed{};  ///< the first of those: "gs://BUCKET/OBJECT"
};
inline constexpr std::size_t kChangedNamesMax = 10;

/// Makes records valid again for files that were copied with their times: a record names its file's inode,
/// and a copy has another one. Compares them with the original files: one that is still the record's own file
/// (a hard link) with another size or time was modified in place after the backup. Durable.
///
/// @param objects  path of the copy's objects.db; nothing else has it open.
[[nodiscard]] Result<AdoptedCopies> AdoptCopies(const std::string& objects, const std::string& copied_from,
                                                const std::string& buckets);

}  // namespace trainyard::storage
