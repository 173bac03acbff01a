#include <algorithm>

#include "base/wire/json.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/variables.h"
#include "rules/validation/rules.h"

namespace trainyard::jobs::rules {
namespace {

/// Linux limits a variable to 128 KiB, its name included (MAX_ARG_STRLEN).
constexpr std::size_t kVariableBytesMax = 128 * 1024;
/// The part of TF_CONFIG that is neither job nor hosts: keys, task, project.
constexpr std::size_t kFrameBytesMax = 1024;
/// `"cmle-training-worker-0123456789-999:65535", ` and a few bytes more.
constexpr std::size_t kHostBytesMax = 64;
/// An upper limit for how much longer a message becomes as JSON that is quoted once more; names of fields and
/// enumerators add most.
constexpr std::size_t kJsonGrowthMax = 24;

/// TF_CONFIG holds the job as JSON; for containers, as a JSON string of it.
std::size_t QuotedBytes(const std::string& json) {
  return json.size() +
         static_cast<std::size_t>(std::ranges::count_if(json, [](char c) { return c == '"' || c == '\\'; }));
}

}  // namespace

Status Size(const Job& job, const ValidationContext&) {
  const ml::v1::TrainingInput& input = job.training_input();
  const auto replicas = static_cast<std::size_t>(cluster::kReplicasMax);
  if (input.ByteSizeLong() * kJsonGrowthMax + kFrameBytesMax + replicas * kHostBytesMax < kVariableBytesMax)
    return {};
  const auto groups = cluster::Groups(input);
  if (!groups) return {};
  std::size_t hosts = 0;
  for (const cluster::ReplicaGroup& group : *groups) hosts += static_cast<std::size_t>(group.count);
  const std::size_t bytes = QuotedBytes(wire::PrintJsonProtoNames(WithoutVariables(input))) + kFrameBytesMax +
                            hosts * kHostBytesMax;
  if (bytes <= kVariableBytesMax) return {};
  return Invalid("job.training_input",
                 "The job is too large: TF_CONFIG, which has all of its fields, would have " +
                     std::to_string(bytes) + " bytes, at most " + std::to_string(kVariableBytesMax) + ".");
}

}  // namespace trainyard::jobs::rules
