#include "replica/supervisor/metric_file.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "replica/supervisor/program_files.h"

namespace trainyard::replica {

namespace {

constexpr const char* kMetricName = "output.metrics";

}  // namespace

MetricFile::MetricFile(const AttemptDir& dir) : folder_(dir.Metrics()) {
  if (mkdir(folder_.c_str(), 0777) == 0) chmod(folder_.c_str(), 0777);  // a container's user may be anybody
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
  if (begin > 0) contents.erase(0, contents.find('\n'));  // the end of a line is not what the line said
  return contents;
}

}  // namespace trainyard::replica
