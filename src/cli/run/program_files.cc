#include "cli/run/program_files.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/async/file.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

bool IsJunk(const std::string& name) {
  constexpr std::array<std::string_view, 4> kNames = {"__pycache__", "venv", "node_modules", "site-packages"};
  return name.starts_with('.') || name.ends_with(".pyc") || name.ends_with(".egg-info") ||
         std::ranges::find(kNames, name) != kNames.end();
}

bool IsModule(const std::string& name) { return name.ends_with(".py"); }

struct SizedFile {
  std::string path;  ///< relative to the folder
  std::uintmax_t bytes = 0;
};

/// One file or folder of the top.
struct Entry {
  std::string name;
  std::vector<SizedFile> modules;
  std::vector<SizedFile> data;
  std::uintmax_t data_bytes = 0;
  bool too_many = false;
  std::vector<CollectedFiles::SkippedFile> skipped;
};

constexpr std::string_view kUnreadable = "cannot be read";

constexpr std::string_view kSecret = "a token or a private key; --secret hands one to the job";

/// A file with nothing but a token of this service, or with a private key in PEM (also within JSON, as in the
/// key file of a service account). Everybody in the project may read what is uploaded.
bool IsSecret(std::string_view bytes) {
  constexpr std::size_t kSecretBytesMax = std::size_t{64} << 10;
  constexpr std::string_view kToken = "ty_";
  constexpr std::size_t kTokenBytes = 52;
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  if (bytes.size() > kSecretBytesMax) return false;
  if (bytes.contains("-----BEGIN ") && bytes.contains("PRIVATE KEY-----")) return true;
  const std::string_view text = bytes.substr(0, bytes.find_last_not_of(" \r\n") + 1);
  return text.size() == kTokenBytes && text.starts_with(kToken) &&
         text.substr(kToken.size()).find_first_not_of(kDigits) == std::string_view::npos;
}

std::string_view KindOf(fs::file_type type) {
  switch (type) {
    case fs::file_type::fifo: return "a pipe";
    case fs::file_type::socket: return "a socket";
    case fs::file_type::not_found: return "removed meanwhile";
    default: return "a device";
  }
}

class Collector {
 public:
  explicit Collector(const fs::path& folder) : folder_(folder) {}

  Result<std::vector<Entry>> Look() {
    TY_TRY(std::vector<std::string> names, NamesIn(folder_));
    // Files and packages first: a folder of very many files must not use up what can be looked at.
    std::ranges::sort(names, {}, [this](const std::string& name) {
      std::error_code error;
      const fs::path path = folder_ / name;
      const int rank = !fs::is_directory(path, error) ? 0 : fs::exists(path / "__init__.py", error) ? 1 : 2;
      return std::pair(rank, name);
    });
    std::vector<Entry> entries;
    for (const std::string& name : names) {
      if (IsJunk(name)) continue;
      Entry entry{.name = name, .modules = {}, .data = {}, .skipped = {}};
      Add(name, entry);
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  static Result<std::vector<std::string>> NamesIn(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      names.push_back(entry->path().filename());
    if (error) return std::unexpected(ErrnoError(error.value(), "read " + folder.string()));
    std::ranges::sort(names);
    return names;
  }

  void Add(const std::string& path, Entry& entry) {
    if (++seen_ > kEntriesMax) {
      entry.too_many = true;
      return;
    }
    const fs::path full = folder_ / path;
    std::error_code error;
    const fs::file_status link = fs::symlink_status(full, error);
    const fs::file_status status = fs::status(full, error);
    if (fs::is_directory(status)) {
      if (fs::exists(full / "pyvenv.cfg", error) || fs::exists(full / "conda-meta", error)) return;
      if (fs::is_symlink(link)) return entry.skipped.push_back({path, "a link to a folder"});
      const Result<std::vector<std::string>> names = NamesIn(full);
      if (!names) return entry.skipped.push_back({path, kUnreadable});
      for (const std::string& name : *names) {
        if (!IsJunk(name)) Add(path + "/" + name, entry);
        if (entry.too_many) return;
      }
    } else if (status.type() == fs::file_type::none) {
      entry.skipped.push_back({path, kUnreadable});  // in a folder that may be listed but not entered
    } else if (fs::is_regular_file(status)) {
      const std::uintmax_t bytes = fs::file_size(full, error);
      if (IsModule(path)) {
        entry.modules.push_back({path, bytes});
      } else {
        entry.data.push_back({path, bytes});
        entry.data_bytes += bytes;
      }
    } else {
      const bool leads_nowhere = fs::is_symlink(link) && status.type() == fs::file_type::not_found;
      entry.skipped.push_back({path, leads_nowhere ? "a link to nothing" : KindOf(status.type())});
    }
  }

  fs::path folder_;
  int seen_ = 0;
};

Status CheckModules(const fs::path& folder, const std::vector<Entry>& entries) {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
  for (const Entry& entry : entries) {
    files += entry.modules.size();
    for (const SizedFile& module : entry.modules) bytes += module.bytes;
  }
  if (files <= kModuleFilesMax && bytes <= kModuleBytesMax) return {};
  return std::unexpected(Error{Code::kResourceExhausted,
                               folder.string() + " has " + std::to_string(files) + " Python files of " +
                                   SizeText(bytes) + " together; at most " + std::to_string(kModuleFilesMax) +
                                   " of " + SizeText(kModuleBytesMax) +
                                   " can be uploaded. Move the program to a separate folder",
                               ""});
}

/// Whether a folder's modules can be imported from the top: the others may be anything.
bool IsImportable(const fs::path& folder, const Entry& entry) {
  std::error_code error;
  return !fs::is_directory(folder / entry.name, error) ||
         fs::exists(folder / entry.name / "__init__.py", error);
}

/// The small ones come along, as long as there is room.
void ChooseData(std::vector<Entry>& entries, std::vector<CollectedFiles::LargeData>& left_behind) {
  std::vector<Entry*> by_size;
  for (Entry& entry : entries) by_size.push_back(&entry);
  std::ranges::sort(by_size, {},
                    [](const Entry* entry) { return std::pair(entry->data_bytes, entry->name); });
  std::uintmax_t total = 0;
  for (Entry* entry : by_size) {
    total += entry->data_bytes;
    if (total <= kDataBytesMax && !entry->too_many) continue;
    left_behind.push_back({entry->name, entry->data_bytes, entry->too_many});
    entry->data.clear();
  }
  std::ranges::sort(left_behind, {}, &CollectedFiles::LargeData::name);
}

bool IsExecutable(const fs::path& path) {
  std::error_code error;
  return (fs::status(path, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

}  // namespace

Result<CollectedFiles> CollectFiles(const CollectOptions& options) {
  TY_TRY(std::vector<Entry> entries, Collector(options.folder).Look());
  if (options.only_data_of) {
    std::erase_if(entries, [&](const Entry& entry) {
      return entry.name != *options.only_data_of && !IsImportable(options.folder, entry);
    });
    for (Entry& entry : entries) {
      if (entry.name == *options.only_data_of) continue;
      entry.data.clear();
      entry.data_bytes = 0;
      entry.too_many = false;
    }
  }
  TY_RETURN_IF_ERROR(CheckModules(options.folder, entries));
  CollectedFiles collected;
  ChooseData(entries, collected.left_behind);
  for (const Entry& entry : entries) {
    collected.skipped.insert(collected.skipped.end(), entry.skipped.begin(), entry.skipped.end());
    for (const std::vector<SizedFile>* list : {&entry.modules, &entry.data}) {
      for (const SizedFile& found : *list) {
        const fs::path path = options.folder / found.path;
        Result<std::string> bytes = ReadFile(path);
        if (!bytes)
          collected.skipped.push_back({found.path, kUnreadable});
        else if (list == &entry.data && IsSecret(*bytes))
          collected.skipped.push_back({found.path, kSecret});
        else
          collected.files.push_back({found.path, *std::move(bytes), IsExecutable(path)});
      }
    }
  }
  std::ranges::sort(collected.files, {}, &ProgramFile::path);
  std::ranges::sort(collected.skipped, {}, &CollectedFiles::SkippedFile::path);
  return collected;
}

std::string SizeText(std::uintmax_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  std::uintmax_t tenths = bytes * 10;
  for (; tenths >= 10'000 && unit + 1 < kUnits.size(); ++unit) tenths /= 1'000;
  const bool whole = unit == 0 || tenths >= 100;
  return std::to_string(tenths / 10) + (whole ? "" : "." + std::to_string(tenths % 10)) + " " + kUnits[unit];
}

}  // namespace trainyard::cli
