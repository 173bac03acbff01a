#include "server/readiness_rules.h"

#include <utility>

namespace trainyard::server {

namespace {

using control::v1::Readiness;

std::string Megabytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

void Add(Readiness& readiness, const char* name, bool ok, std::string detail) {
  Readiness::Check& check = *readiness.add_checks();
  check.set_name(name);
  check.set_ok(ok);
  check.set_detail(std::move(detail));
  readiness.set_ready(readiness.ready() && ok);
}

std::string DiskText(const ReadinessFacts& facts, bool bytes_ok, bool inodes_ok) {
  if (!bytes_ok)
    return facts.folder + " has " + Megabytes(facts.free_bytes) + " free and needs " +
           Megabytes(kFreeBytesMin) + ": free some";
  if (!inodes_ok)
    return facts.folder + " has room for " + std::to_string(facts.free_inodes) + " files and needs " +
           std::to_string(kFreeInodesMin) + ": remove some";
  return Megabytes(facts.free_bytes) + " free in " + facts.folder;
}

}  // namespace

Readiness Judge(const ReadinessFacts& facts) {
  Readiness readiness;
  readiness.set_ready(true);
  Add(readiness, "recovery", facts.recovered,
      facts.recovered ? "the jobs of the previous server are taken over"
                      : "the jobs of the previous server are being taken over");
  const bool bytes_ok = facts.free_bytes >= kFreeBytesMin;
  const bool inodes_ok = facts.free_inodes < 0 || facts.free_inodes >= kFreeInodesMin;
  Add(readiness, "disk", bytes_ok && inodes_ok, DiskText(facts, bytes_ok, inodes_ok));
  Add(readiness, "store", facts.stored.has_value(),
      facts.stored ? "the last write was stored" : "nothing can be stored: " + facts.stored.error().message);
  const bool on_time = facts.lateness <= kLatenessMax;
  Add(readiness, "loop", on_time,
      (on_time ? "at most " : "stalled: ") + std::to_string(facts.lateness.count()) +
          " ms late in the last ten seconds");
  Add(readiness, "drain", true, facts.draining ? "draining: jobs are accepted and wait" : "jobs are started");
  return readiness;
}

}  // namespace trainyard::server
