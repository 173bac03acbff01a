#include "rules/jobs/accelerator_quota.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/number.h"
#include "rules/cluster/scale_tier.h"

namespace trainyard::jobs {
namespace {

using ml::v1::AcceleratorConfig;

/// "K80", "TPU_V2": the type's name in the original's message.
std::string ShortName(AcceleratorConfig::Type type) {
  constexpr std::string_view kVendor = "NVIDIA_TESLA_";
  const std::string& name = AcceleratorConfig::Type_Name(type);
  return name.starts_with(kVendor) ? name.substr(kVendor.size()) : name;
}

/// "0 A100, 2 K80", by name.
std::string List(const AcceleratorCounts& counts) {
  std::vector<std::pair<std::string, std::int64_t>> rows;
  for (const auto& [type, count] : counts) rows.emplace_back(ShortName(type), count);
  std::ranges::sort(rows);
  std::string text;
  for (const auto& [name, count] : rows) {
    text.append(text.empty() ? "" : ", ").append(std::to_string(count)).append(" ").append(name);
  }
  return text;
}

std::int64_t CountIn(const AcceleratorCounts& counts, AcceleratorConfig::Type type) {
  const auto found = counts.find(type);
  return found == counts.end() ? 0 : found->second;
}

std::unexpected<Error> Malformed(std::string_view item) {
  return std::unexpected(InvalidArgument(
      "", "'" + std::string(item) + "' is not TYPE=COUNT with a type such as NVIDIA_TESLA_K80 or TPU_V2"));
}

}  // namespace

Result<AcceleratorCounts> ParseAcceleratorQuota(std::string_view text) {
  AcceleratorCounts quota;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    AcceleratorConfig::Type type{};
    if (equals == std::string_view::npos ||
        !AcceleratorConfig::Type_Parse(std::string(item.substr(0, equals)), &type) ||
        type == AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED) {
      return Malformed(item);
    }
    const std::string_view digits = item.substr(equals + 1);
    const std::int64_t count = WholeNumber<std::int64_t>(digits).value_or(-1);
    if (count < 0 || !quota.emplace(type, count).second) return Malformed(item);
  }
  return quota;
}

AcceleratorCounts AcceleratorsOf(const ml::v1::TrainingInput& input) {
  AcceleratorCounts counts;
  const auto replicas = cluster::Expand(input);
  if (!replicas) return counts;
  for (const cluster::ReplicaPlan& replica : *replicas) {
    if (replica.accelerators.count > 0) counts[replica.accelerators.type] += replica.accelerators.count;
  }
  return counts;
}

Status CheckAcceleratorQuota(const AcceleratorCounts& quota, std::string_view project,
                             const AcceleratorDemand& demand) {
  AcceleratorCounts exceeding;
  AcceleratorCounts held;
  for (const auto& [type, asked] : demand.asked) {
    const auto maximum = quota.find(type);
    const std::int64_t others = CountIn(demand.held, type);
    if (maximum == quota.end() || asked + others <= maximum->second) continue;
    exceeding[type] = asked;
    if (others > 0) held[type] = others;
  }
  if (exceeding.empty()) return {};
  std::string description = "The request for " + List(exceeding) +
                            " accelerators exceeds the allowed maximum of " + List(quota) + " accelerators.";
  if (!held.empty()) description += " Unfinished jobs of the project use " + List(held) + ".";
  Error error{.code = Code::kResourceExhausted,
              .message = "Quota failure for project " + std::string(project) + ". " + description +
                         " The server's operator sets it: trainyard serve --quota-accelerators.",
              .field = {}};
  error.violations.push_back({.field = std::string(project), .description = std::move(description)});
  return std::unexpected(std::move(error));
}

}  // namespace trainyard::jobs
