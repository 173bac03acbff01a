#include "replica/supervisor/metric_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string_view>
#include <utility>

#include "programs/runtimes/oci_container.h"
#include "rules/measurement/report.h"

namespace trainyard::replica {

namespace {

constexpr const char* kMetricName = "output.metrics";

using std::chrono::milliseconds;

/// Bytes read before the program's output is checked again.
constexpr std::uint64_t kSliceBytes = std::uint64_t{8} << 20;
/// After a search, the pause is at least this many times its duration.
constexpr int kRestMin = 20;

/// A directory to be searched. They are ordered by rank: a directory comes after those above it, and the
/// thousand directories of a data set come after deeper ones that have few siblings. Ordered by depth alone,
/// they would use up the limit on entries, and logs/run/train would never be reached.
struct Folder {
  std::size_t rank = 0;  ///< the sum of the numbers of directories on each level of the path to it
  std::size_t root = 0;
  std::string path;  ///< below the root; empty: the root
  int depth = 0;
  friend auto operator<=>(const Folder&, const Folder&) = default;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

bool IsFolder(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat status{};  // some file systems do not return the type
  return fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/// The contents of one directory.
struct Names {
  std::size_t entries = 0;
  bool all = true;  ///< nothing was left out
  std::vector<std::string> folders;
  std::vector<std::string> event_files;
};

Names NamesIn(UniqueFd folder, std::size_t entries_max) {
  Names names;
  const std::unique_ptr<DIR, CloseDirectory> directory(folder ? fdopendir(folder.get()) : nullptr);
  if (!directory) return names;
  const int opened = folder.Release();  // owned by the directory stream now
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.entries == entries_max) {
      names.all = false;
      break;
    }
    ++names.entries;
    if (IsFolder(opened, *entry))
      names.folders.emplace_back(name);
    else if (measurement::IsEventFile(name))
      names.event_files.emplace_back(name);
  }
  return names;
}

std::string CountedFiles(std::size_t count) {
  if (count == 0) return "no event files";
  return std::to_string(count) + (count == 1 ? " event file" : " event files");
}

}  // namespace

UniqueFd OpenFolder(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

UniqueFd OpenFolderBelow(UniqueFd folder, std::string_view path) {
  while (folder && !path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    folder.Reset(openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return folder;
}

UniqueFd OpenBelow(int folder, const char* name) {
  UniqueFd file(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (file && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.Reset();
  return file;
}

std::size_t ReadAt(int file, std::uint64_t offset, std::span<char> buffer) {
  const ssize_t got = pread(file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

MetricFile::MetricFile(const AttemptDir& dir) : folder_(dir.Metrics()) {
  if (mkdir(folder_.c_str(), 0777) == 0) chmod(folder_.c_str(), 0777);  // a container's user may be any
  notices_.Reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const auto events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;
  if (notices_ && inotify_add_watch(notices_.get(), folder_.c_str(), events) < 0) notices_.Reset();
}

void MetricFile::OnReadable() {
  std::array<char, 4096> events{};
  while (read(notices_.get(), events.data(), events.size()) > 0) {
  }
}

std::optional<std::string> MetricFile::Read() const {
  const UniqueFd folder = OpenFolder(folder_);
  const UniqueFd file = folder ? OpenBelow(folder.get(), kMetricName) : UniqueFd();
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
  const std::size_t all = static_cast<std::size_t>(status.st_size);
  std::string contents(std::min(all, kMetricFileBytesMax), '\0');
  const std::size_t begin = all - contents.size();
  std::size_t size = 0;
  while (size < contents.size()) {
    const std::size_t got = ReadAt(file.get(), begin + size, std::span(contents).subspan(size));
    if (got == 0) break;
    size += got;
  }
  contents.resize(size);
  if (begin > 0) contents.erase(0, contents.find('\n'));  // the rest of a cut line is not a report
  return contents;
}

MetricWatch::MetricWatch(const std::vector<std::string>& tags, AttemptDir dir, Time now,
                         EventSearchLimits limits)
    : dir_(std::move(dir)),
      limits_(limits),
      roots_{{"working directory", dir_.Work()},
             {"/tmp", dir_.Tmp()},
             {"home directory", dir_.Home()},
             {"", WritableLayer(dir_.Container())}},
      metric_file_(dir_),
      next_(now + kSearchInterval),
      file_(tags),
      summaries_(tags) {}

void MetricWatch::OnReadable() {
  metric_file_.OnReadable();
  ReadMetricFile();
}

void MetricWatch::ReadMetricFile() {
  const std::optional<std::string> contents = metric_file_.Read();
  if (!contents) return;
  file_seen_ = true;
  changed_ = file_.Read(*contents) || changed_;
}

void MetricWatch::Search() {
  waiting_.clear();
  searched_all_ = true;
  std::priority_queue<Folder, std::vector<Folder>, std::greater<>> folders;
  for (std::size_t root = 0; root < roots_.size(); ++root) folders.push({.root = root});
  std::size_t left = limits_.entries;
  while (!folders.empty() && left > 0) {
    const Folder folder = folders.top();
    folders.pop();
    const Root& root = roots_[folder.root];
    const std::string prefix = folder.path.empty() ? "" : folder.path + "/";
    const Names names =
        NamesIn(OpenFolderBelow(OpenFolder(root.path), folder.path), std::min(limits_.folder_entries, left));
    left -= names.entries;
    const bool too_deep = folder.depth >= limits_.depth && !names.folders.empty();
    if (!names.all || too_deep) searched_all_ = false;
    for (const std::string& name : names.event_files) waiting_.push_back({&root, prefix + name});
    for (std::size_t i = 0; i < names.folders.size() && !too_deep; ++i) {
      folders.push({.rank = folder.rank + names.folders.size(),
                    .root = folder.root,
                    .path = prefix + names.folders[i],
                    .depth = folder.depth + 1});
    }
  }
  searched_all_ = searched_all_ && folders.empty();
  std::ranges::reverse(waiting_);  // the first found is read first, in case there are too many files
}

/// True: there is more to read.
bool MetricWatch::ReadSome(const EventFile& found, std::uint64_t bytes_max) {
  const std::size_t name = found.path.rfind('/') + 1;  // 0 if there is no directory
  const UniqueFd folder =
      OpenFolderBelow(OpenFolder(found.root->path), std::string_view(found.path).substr(0, name));
  const UniqueFd file = folder ? OpenBelow(folder.get(), found.path.c_str() + name) : UniqueFd();
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return false;
  const auto read_at = [this, &file](std::uint64_t offset, std::span<char> buffer) {
    const std::size_t got = ReadAt(file.get(), offset, buffer);
    changed_ = changed_ || got > 0;
    return got;
  };
  const measurement::FileVersion now{.id = status.st_ino, .size = static_cast<std::uint64_t>(status.st_size)};
  return summaries_.Read(found.root->shown, found.path, now, bytes_max, read_at);
}

void MetricWatch::Step(Time now) {
  if (now < next_) return;
  const Time began = std::chrono::steady_clock::now();
  if (waiting_.empty()) {
    ReadMetricFile();
    Search();
  }
  for (std::uint64_t read = 0; read < kSliceBytes && !waiting_.empty(); read += kSliceBytes / 8) {
    if (!ReadSome(waiting_.back(), kSliceBytes / 8)) waiting_.pop_back();
  }
  const auto took = std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - began);
  next_ = now + (waiting_.empty() ? std::max(kSearchInterval, took * kRestMin) : took);
}

void MetricWatch::ReadRest() {
  ReadMetricFile();
  Search();
  while (!waiting_.empty()) {
    if (!ReadSome(waiting_.back(), kSliceBytes)) waiting_.pop_back();
  }
}

v1::MetricReport MetricWatch::ReportOfFile() const {
  v1::MetricReport own;
  file_.Print(own);
  if (!own.measurements().empty()) own.set_place(std::string(measurement::kMetricFile));
  own.add_places(std::string(measurement::kMetricFile) + (file_seen_ ? "" : " (not written)"));
  own.mutable_seen_tags()->Add(file_.seen_tags().begin(), file_.seen_tags().end());
  return own;
}

v1::MetricReport MetricWatch::Report() const {
  v1::MetricReport events = summaries_.Report();
  events.add_places("its own folders (" + CountedFiles(summaries_.files()) +
                    (searched_all_ ? ")" : ", but not everything was searched)"));
  return measurement::Merge(ReportOfFile(), events);
}

MetricWatch::Time MetricWatch::deadline() const noexcept { return changed_ ? std::min(next_, due_) : next_; }

bool MetricWatch::TakeDue(Time now) {
  if (!changed_ || now < due_) return false;
  changed_ = false;
  due_ = now + kReportInterval;
  return true;
}

std::string MetricWatch::TakeWarning() {
  for (const measurement::RenamedTag& renamed : summaries_.RenamedTags()) {
    if (file_.Has(renamed.tag) || !warned_.insert(renamed.tag).second) continue;
    return measurement::SpellingWarning(renamed.tag, renamed.spelling, renamed.place);
  }
  return {};
}

void TagWatch::OnReadable(Time now) {
  const Time began = std::chrono::steady_clock::now();
  file_.OnReadable();
  Read();
  rest_end_ = now + (std::chrono::steady_clock::now() - began) * kTagsRest;
}

void TagWatch::Read() {
  if (const std::optional<std::string> contents = file_.Read()) tags_.Read(*contents);
}

TagWatch::Time TagWatch::deadline() const noexcept {
  return std::min(tags_.changed() ? due_ : Time::max(), rest_end_.value_or(Time::max()));
}

std::vector<v1::MetricReport> TagWatch::TakeDue(Time now) {
  if (rest_end_ && now >= *rest_end_) rest_end_.reset();
  if (!tags_.changed() || now < due_) return {};
  due_ = now + kTagsInterval;
  return tags_.TakeChanged();
}

}  // namespace trainyard::replica
