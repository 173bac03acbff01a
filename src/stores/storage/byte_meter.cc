#include "stores/storage/byte_meter.h"

#include <algorithm>
#include <utility>

namespace trainyard::storage {

void ByteMeter::Set(std::map<std::string, std::int64_t> bytes) {
  bytes_.With([&bytes](auto& kept) { kept = std::move(bytes); });
}

void ByteMeter::Add(const std::string& bucket, std::int64_t more) {
  bytes_.With([&](auto& kept) {
    std::int64_t& bytes = kept[bucket];
    bytes = std::max<std::int64_t>(bytes + more, 0);  // a file from before the first measurement
  });
}

void ByteMeter::AddUnfinished(const std::string& bucket, std::int64_t more) {
  unfinished_.With([&](auto& kept) {
    if ((kept[bucket] += more) <= 0) kept.erase(bucket);
  });
}

std::map<std::string, std::int64_t> ByteMeter::ByProject() const {
  auto by_bucket = bytes_.With([](const auto& kept) { return kept; });
  unfinished_.With([&by_bucket](const auto& kept) {
    for (const auto& [bucket, bytes] : kept) by_bucket[bucket] += bytes;
  });
  std::map<std::string, std::int64_t> by_project;
  for (const auto& [bucket, bytes] : by_bucket) by_project[rules_.project_of(bucket)] += bytes;
  return by_project;
}

std::int64_t ByteMeter::OfProject(const std::string& project) const {
  const auto by_project = ByProject();
  const auto found = by_project.find(project);
  return found == by_project.end() ? 0 : found->second;
}

Status ByteMeter::Check(const std::string& bucket, std::int64_t more) const {
  if (more <= 0) return {};
  const std::string project = rules_.project_of(bucket);
  const std::optional<Limit> limit = rules_.limit_of(project);
  if (!limit) return {};
  const std::int64_t kept = OfProject(project);
  if (kept + more <= limit->bytes) return {};
  return std::unexpected(
      ResourceExhausted("Quota failure for project " + project + ". Its buckets hold " +
                        std::to_string(kept) + " bytes, and may hold " + std::to_string(limit->bytes) +
                        ". Remove objects, then write again. The server's operator sets the quota: "
                        "trainyard serve " +
                        limit->quota + "."));
}

}  // namespace trainyard::storage
