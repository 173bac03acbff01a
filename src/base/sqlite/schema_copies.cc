#include "base/sqlite/schema_copies.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "base/async/file.h"
#include "base/sqlite/snapshot.h"

namespace trainyard::sqlite {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "schema-copies";
constexpr const char* kSuffix = ".db";

fs::path FolderOf(const fs::path& store) { return store.parent_path() / kFolder; }

std::string NameOf(const fs::path& store, std::int64_t version) {
  return store.stem().string() + "-v" + std::to_string(version) + kSuffix;
}

/// The schema version in the name of a copy of this store; nullopt: it is not such a copy.
std::optional<std::int64_t> VersionOf(const fs::path& store, const std::string& name) {
  const std::string prefix = store.stem().string() + "-v";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view digits = std::string_view(name).substr(
      prefix.size(), name.size() - prefix.size() - std::string_view(kSuffix).size());
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return version;
}

std::map<std::int64_t, fs::path> CopiesOf(const fs::path& store) {
  std::map<std::int64_t, fs::path> copies;
  std::error_code error;
  for (fs::directory_iterator entry(FolderOf(store), error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto version = VersionOf(store, entry->path().filename())) copies[*version] = entry->path();
  }
  return copies;
}

}  // namespace

Status KeepSchemaCopy(Database& database, std::int64_t version) {
  const fs::path store = database.Path();
  const fs::path folder = FolderOf(store);
  TY_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  const fs::path copy = folder / NameOf(store, version);
  const std::string unfinished = copy.string() + ".unfinished";
  std::error_code error;
  fs::remove(unfinished, error);  // left by a start that was killed
  if (const Status copied = CopyDatabase(database, unfinished); !copied) {
    fs::remove(unfinished, error);
    return std::unexpected(Error{
        copied.error().code,
        "the copy of " + store.string() + " that an upgrade keeps cannot be made: " + copied.error().message,
        {}});
  }
  if (std::rename(unfinished.c_str(), copy.c_str()) != 0)
    return std::unexpected(ErrnoError(errno, "rename " + unfinished));
  TY_RETURN_IF_ERROR(SyncDirectory(folder));
  TY_RETURN_IF_ERROR(SyncDirectory(folder.parent_path()));
  std::map<std::int64_t, fs::path> copies = CopiesOf(store);
  for (; copies.size() > kSchemaCopiesKept; copies.erase(copies.begin()))
    fs::remove(copies.begin()->second, error);
  return {};
}

Error NewerSchema(const std::string& path, std::int64_t version, std::int64_t known) {
  std::string readable;
  for (const auto& [schema, copy] : CopiesOf(path)) {
    if (schema <= known) readable = copy.string();
  }
  const std::string otherwise = readable.empty() ? "restore a backup of before the upgrade"
                                                 : "put the copy of before the upgrade in its place (" +
                                                       readable + "), which lacks all that was stored since";
  return FailedPrecondition(path + " was written by a newer version of trainyard (schema " +
                            std::to_string(version) + ", this program knows " + std::to_string(known) +
                            "): start that version, or " + otherwise);
}

}  // namespace trainyard::sqlite
