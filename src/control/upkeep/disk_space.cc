#include "control/upkeep/disk_space.h"

#include <sys/statvfs.h>

#include <utility>

#include "control/upkeep/disk_advice.h"

namespace trainyard::control {

DiskSpace::DiskSpace(std::string folder, retention::DiskMarks marks)
    : folder_(std::move(folder)), marks_(marks) {
  Look();
}

retention::DiskReading DiskSpace::Seen::ForClients() const {
  retention::DiskReading shown = reading;
  shown.folder = "the server's data";
  return shown;
}

DiskSpace::Seen DiskSpace::Try() {
  const DiskTrouble trouble = LookForDiskTrouble(folder_);
  last_.With([&trouble](Seen& last) {
    last.reading.trouble = !trouble.answers       ? "answers with errors"
                           : trouble.is_read_only ? "is mounted read-only, perhaps after an error"
                                                  : "";
  });
  return Look();
}

DiskSpace::Seen DiskSpace::Look() {
  struct statvfs space{};
  const bool says = ::statvfs(folder_.c_str(), &space) == 0;
  return last_.With([&](Seen& last) {
    last.reading.folder = folder_;
    if (says) {
      last.reading.free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
      last.reading.free_inodes = space.f_files > 0 ? static_cast<std::int64_t>(space.f_favail) : -1;
    }
    last.level = retention::LevelOf(last.reading, marks_, last.level);
    last.may_store = retention::CheckSpace(last.ForClients(), marks_, last.level);
    last.may_begin = {};
    if (last.level != retention::DiskLevel::kEnough)
      last.may_begin = std::unexpected(
          Error{Code::kResourceExhausted, retention::WhyJobsWait(last.ForClients(), marks_), ""});
    return last;
  });
}

DiskSpace::Seen DiskSpace::Last() const {
  return last_.With([](const Seen& last) { return last; });
}

}  // namespace trainyard::control
