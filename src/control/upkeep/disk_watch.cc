#include "control/upkeep/disk_watch.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"

namespace trainyard::control {

DiskWatch::DiskWatch(boost::asio::any_io_executor loop, Parts parts)
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
      DiskSpace::Seen seen = parts.space.Try();
      if (seen.level == retention::DiskLevel::kEnough) parts.reserve.Keep();
      return seen;
    };
    const DiskSpace::Seen seen = co_await OnPool(looking_, std::move(look));
    Take(seen);
  }
}

/// Waiting jobs are given a number only when the level changes: each new number would be an event of theirs.
void DiskWatch::Take(const DiskSpace::Seen& seen) {
  if (seen.level == level_ && seen.reading.trouble == trouble_) return;
  level_ = seen.level;
  trouble_ = seen.reading.trouble;
  if (level_ == retention::DiskLevel::kEnough) {
    Diagnose(DiagnosticLevel::kInfo, "the disk of " + seen.reading.folder + " has " +
                                         retention::SpaceText(seen.reading.free_bytes) +
                                         " free again: jobs begin");
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

}  // namespace trainyard::control
