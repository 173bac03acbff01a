#include "server/disk_space.h"

#include <sys/statvfs.h>

#include <utility>

namespace trainyard::server {

DiskSpace::DiskSpace(std::string folder, retention::DiskMarks marks)
    : folder_(std::move(folder)), marks_(marks) {
  Look();
}

retention::DiskReading DiskSpace::Seen::ForClients() const {
  retention::DiskReading shown = reading;
  shown.folder = "the server's data";
  return shown;
}

DiskSpace::Seen DiskSpace::Look() {
  struct statvfs space{};
  if (::statvfs(folder_.c_str(), &space) != 0) return Last();
  retention::DiskReading reading{.folder = folder_,
                                 .free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize)};
  if (space.f_files > 0) reading.free_inodes = static_cast<std::int64_t>(space.f_favail);
  return last_.With([&](Seen& last) {
    last.level = retention::LevelOf(reading, marks_, last.level);
    last.reading = std::move(reading);
    last.may_store = retention::CheckSpace(last.ForClients(), marks_, last.level);
    return last;
  });
}

DiskSpace::Seen DiskSpace::Last() const {
  return last_.With([](const Seen& last) { return last; });
}

}  // namespace trainyard::server
