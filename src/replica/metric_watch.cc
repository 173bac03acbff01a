#include "replica/metric_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "measurement/report.h"
#include "replica/oci_container.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kMetricName = "output.metrics";
constexpr std::size_t kMetricFileBytesMax = 4 << 20;
/// Read between two looks at the program's output.
constexpr std::uint64_t kSliceBytes = std::uint64_t{8} << 20;
/// A search is not worth more.
constexpr int kDepthMax = 16;
constexpr int kEntriesMax = 50'000;
constexpr int kRestMin = 20;

/// A regular file below a folder that the program owns; pipes do not block and links are not followed.
UniqueFd OpenBelow(int folder, const char* name) {
  UniqueFd file(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (file && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.Reset();
  return file;
}

UniqueFd OpenFolder(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

std::size_t ReadAt(int file, std::uint64_t offset, std::span<char> buffer) {
  const ssize_t got = pread(file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::string CountedFiles(std::size_t count) {
  if (count == 0) return "no event files";
  return std::to_string(count) + (count == 1 ? " event file" : " event files");
}

}  // namespace

bool ReportsMetric(const v1::Manifest& manifest) {
  return !manifest.metric_tag().empty() && manifest.replica().type() == v1::MASTER;
}

std::string MetricFolder(const AttemptDir& dir) { return dir.Tmp() + "/hypertune"; }

MetricWatch::MetricWatch(std::string tag, AttemptDir dir, Time now)
    : tag_(std::move(tag)),
      dir_(std::move(dir)),
      roots_{{"working directory", dir_.Work()},
             {"/tmp", dir_.Tmp()},
             {"home directory", dir_.Home()},
             {"", WritableLayer(dir_.Container())}},
      next_(now + kSearchInterval),
      file_(tag_),
      summaries_(tag_) {
  const std::string folder = MetricFolder(dir_);
  if (mkdir(folder.c_str(), 0777) == 0) chmod(folder.c_str(), 0777);  // a container's user may be anybody
  file_watch_.Reset(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const auto events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;
  // Without it the search reads the file as well, only later.
  if (file_watch_ && inotify_add_watch(file_watch_.get(), folder.c_str(), events) < 0) file_watch_.Reset();
}

void MetricWatch::OnReadable() {
  std::array<char, 4096> events{};
  while (read(file_watch_.get(), events.data(), events.size()) > 0) {
  }
  ReadMetricFile();
}

void MetricWatch::ReadMetricFile() {
  const UniqueFd folder = OpenFolder(MetricFolder(dir_));
  const UniqueFd file = folder ? OpenBelow(folder.get(), kMetricName) : UniqueFd();
  if (!file) return;
  file_seen_ = true;
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return;
  std::string contents(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), kMetricFileBytesMax),
                       '\0');
  std::size_t size = 0;
  while (size < contents.size()) {
    const std::size_t got = ReadAt(file.get(), size, std::span(contents).subspan(size));
    if (got == 0) break;
    size += got;
  }
  contents.resize(size);
  changed_ = file_.Read(contents) || changed_;
}

void MetricWatch::Search() {
  waiting_.clear();
  int entries = 0;
  for (const Root& root : roots_) {
    std::error_code error;
    fs::recursive_directory_iterator entry(root.path, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator() && ++entries < kEntriesMax;
         entry.increment(error)) {
      if (entry.depth() >= kDepthMax) entry.disable_recursion_pending();
      std::string path = entry->path().string();
      if (measurement::IsEventFile(entry->path().filename().native()))
        waiting_.push_back({&root, path.substr(root.path.size() + 1)});
    }
  }
}

/// True: there is more.
bool MetricWatch::ReadSome(const Found& found, std::uint64_t bytes_max) {
  const UniqueFd root = OpenFolder(found.root->path);
  const UniqueFd file = root ? OpenBelow(root.get(), found.path.c_str()) : UniqueFd();
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
  for (const Found& found : waiting_) {
    while (ReadSome(found, kSliceBytes)) {
    }
  }
  waiting_.clear();
}

v1::MetricReport MetricWatch::Report() const {
  v1::MetricReport own;
  file_.curve().Print(own);
  if (!own.measurements().empty()) own.set_place(std::string(measurement::kMetricFile));
  own.add_places(std::string(measurement::kMetricFile) + (file_seen_ ? "" : " (not written)"));
  own.mutable_seen_tags()->Add(file_.seen_tags().begin(), file_.seen_tags().end());
  v1::MetricReport events = summaries_.Report();
  events.add_places("its own folders (" + CountedFiles(summaries_.files()) + ")");
  return measurement::Merge(std::move(own), events);
}

MetricWatch::Time MetricWatch::deadline() const noexcept { return changed_ ? std::min(next_, due_) : next_; }

bool MetricWatch::TakeDue(Time now) {
  if (!changed_ || now < due_) return false;
  changed_ = false;
  due_ = now + kReportInterval;
  return true;
}

std::string MetricWatch::TakeWarning() {
  const std::string spelling = summaries_.Spelling();
  if (warned_ || spelling.empty() || !file_.curve().empty()) return {};
  warned_ = true;
  return measurement::SpellingWarning(tag_, spelling, summaries_.Report().place());
}

}  // namespace trainyard::replica
