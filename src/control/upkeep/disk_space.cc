#include "control/upkeep/disk_space.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/async/unique_fd.h"

namespace trainyard::control {

DiskSpace::DiskSpace(std::string folder, retention::DiskMarks marks)
    : folder_(std::move(folder)), marks_(marks) {
  Look();
}

retention::DiskReading DiskSpace::DiskState::ForClients() const {
  retention::DiskReading shown = reading;
  shown.folder = "the server's data";
  return shown;
}

DiskSpace::DiskState DiskSpace::Try() {
  const DiskTrouble trouble = LookForDiskTrouble(folder_);
  last_.With([&trouble](DiskState& last) {
    last.reading.trouble = !trouble.answers       ? "answers with errors"
                           : trouble.is_read_only ? "is mounted read-only, perhaps after an error"
                                                  : "";
  });
  return Look();
}

DiskSpace::DiskState DiskSpace::Look() {
  struct statvfs space{};
  const bool says = ::statvfs(folder_.c_str(), &space) == 0;
  return last_.With([&](DiskState& last) {
    last.reading.folder = folder_;
    if (says) {
      last.reading.free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
      last.reading.free_inodes = space.f_files > 0 ? static_cast<std::int64_t>(space.f_favail) : -1;
    }
    last.level = retention::LevelOf(last.reading, marks_, last.level);
    last.may_store = retention::CheckSpace(last.ForClients(), marks_, last.level);
    last.may_begin = {};
    if (last.level != retention::DiskLevel::kEnough)
      last.may_begin = std::unexpected(ResourceExhausted(retention::WhyJobsWait(last.ForClients(), marks_)));
    return last;
  });
}

DiskSpace::DiskState DiskSpace::Last() const {
  return last_.With([](const DiskState& last) { return last; });
}

DiskWatch::DiskWatch(boost::asio::any_io_executor loop, Dependencies parts)
    : loop_(std::move(loop)), parts_(parts), tasks_(loop_) {
  parts_.reserve.Keep();
  Take(parts_.space.Last());  // before any job requests resources
  tasks_.Spawn(Run());
}

boost::asio::awaitable<void> DiskWatch::Run() {
  boost::asio::steady_timer timer(loop_);
  for (;;) {
    timer.expires_after(kPause);
    co_await timer.async_wait(boost::asio::use_awaitable);
    auto look = [parts = parts_] {
      parts.clock.Look();
      DiskSpace::DiskState seen = parts.space.Try();
      if (seen.level == retention::DiskLevel::kEnough) parts.reserve.Keep();
      return seen;
    };
    const DiskSpace::DiskState seen = co_await OnPool(looking_, std::move(look));
    Take(seen);
  }
}

/// Waiting jobs are given a number only when the level changes: each new number would be an event of theirs.
void DiskWatch::Take(const DiskSpace::DiskState& seen) {
  if (seen.level == level_ && seen.reading.trouble == trouble_) return;
  level_ = seen.level;
  trouble_ = seen.reading.trouble;
  if (level_ == retention::DiskLevel::kEnough) {
    Diagnose(DiagnosticLevel::kInfo, "the disk of " + seen.reading.folder + " has " +
                                         retention::SpaceText(seen.reading.free_bytes) +
                                         " free again: jobs start again");
    parts_.admissions.Clear(engine::Stop::kDiskShort);
    return;
  }
  const std::string why = retention::WhyJobsWait(seen.reading, parts_.space.marks());
  Diagnose(DiagnosticLevel::kWarning, why);
  if (!seen.may_store) Diagnose(DiagnosticLevel::kWarning, seen.may_store.error().message);
  parts_.admissions.Set(engine::Stop::kDiskShort,
                        {.reason = retention::WhyJobsWait(seen.ForClients(), parts_.space.marks()),
                         .unblock = retention::WhatEndsTheWait(seen.ForClients(), parts_.space.marks())});
}

namespace {

constexpr std::int64_t kFullBelow = std::int64_t{1} << 20;
constexpr std::uint64_t kFewFiles = 16;

}  // namespace

DiskTrouble LookForDiskTrouble(const std::string& data) {
  struct statvfs space{};
  const UniqueFd folder(::open(data.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {.answers = errno != EIO};
  if (::fstatvfs(folder.get(), &space) != 0) return {.answers = errno != EIO};
  const bool no_files = space.f_files > 0 && space.f_favail < kFewFiles;
  // After an error, some file systems refuse writes without being read-only for statvfs(2). The file has no
  // name: it is not visible, and is removed immediately.
  const UniqueFd made(::open(data.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  const int refused = made ? 0 : errno;
  return {.answers = refused != EIO && refused != EUCLEAN,
          .is_read_only = refused == EROFS || (space.f_flag & ST_RDONLY) != 0,
          .is_full = no_files || static_cast<std::int64_t>(space.f_bavail * space.f_frsize) < kFullBelow};
}

Error WithDiskAdvice(Error error, const DiskTrouble& trouble, const std::string& data) {
  if (!trouble.answers) {
    error.message += ". The disk of " + data +
                     " answers with errors: look at the kernel's messages (dmesg) and repair or replace the "
                     "disk before the next start; a backup is restored with trainyard admin restore";
  } else if (trouble.is_read_only) {
    error.message += ". The disk of " + data +
                     " is mounted read-only, perhaps after an error: look at the kernel's messages (dmesg), "
                     "mount it for writing, then start the server again";
  } else if (trouble.is_full) {
    error.message += ". The disk of " + data +
                     " is full: make some megabytes free on it, outside of this directory or in its "
                     "buckets, environments and images, then start the server again";
  }
  return error;
}

}  // namespace trainyard::control
