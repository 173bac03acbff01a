#include "rules/service/readiness_rules.h"

#include <utility>

#include "rules/retention/clock_jumps.h"

namespace trainyard::service {

namespace {

using control::v1::Readiness;

void Add(Readiness& readiness, const char* name, bool ok, std::string detail) {
  Readiness::Check& check = *readiness.add_checks();
  check.set_name(name);
  check.set_ok(ok);
  check.set_detail(std::move(detail));
  readiness.set_ready(readiness.ready() && ok);
}

std::string DiskText(const ReadinessFacts& facts) {
  switch (facts.disk_level) {
    case retention::DiskLevel::kEnough:
      return retention::SpaceText(facts.disk.free_bytes) + " free in " + facts.disk.folder;
    case retention::DiskLevel::kLow: return retention::WhyJobsWait(facts.disk, facts.marks);
    case retention::DiskLevel::kFull:
      return retention::CheckSpace(facts.disk, facts.marks, facts.disk_level).error().message;
  }
  return {};
}

}  // namespace

ReadinessFacts ForEverybody(ReadinessFacts facts) {
  facts.disk.folder = "the server's data";
  if (!facts.stored) facts.stored = std::unexpected(Unavailable("'trainyard admin status' says why"));
  return facts;
}

Readiness Judge(const ReadinessFacts& facts) {
  Readiness readiness;
  readiness.set_ready(true);
  Add(readiness, "recovery", facts.recovered,
      facts.recovered ? "the previous server's jobs are taken over"
                      : "the jobs of the previous server are being taken over");
  // A server whose jobs wait for space is ready, because it accepts jobs, like one that drains.
  Add(readiness, "disk", facts.disk_level != retention::DiskLevel::kFull, DiskText(facts));
  Add(readiness, "store", facts.stored.has_value(),
      facts.stored ? "the last write was stored" : "nothing can be stored: " + facts.stored.error().message);
  const bool on_time = facts.lateness <= kLatenessMax;
  Add(readiness, "loop", on_time,
      (on_time ? "at most " : "stalled: ") + std::to_string(facts.lateness.count()) +
          " ms late in the last ten seconds");
  if (facts.clock_ahead > std::chrono::nanoseconds{0}) {
    Add(readiness, "clock", true,
        "the clock went forward by " + retention::AboutText(facts.clock_ahead) +
            ", and the operator has not confirmed it: nothing is removed because of its age (trainyard admin "
            "retention --confirm)");
  }
  Add(readiness, "drain", true, facts.draining ? "draining: jobs are accepted and wait" : "jobs are started");
  return readiness;
}

}  // namespace trainyard::service
