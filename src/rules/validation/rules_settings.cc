#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "base/wire/time.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/images.h"
#include "rules/validation/rules.h"
#include "rules/validation/validate.h"

namespace trainyard::jobs::rules {
namespace {

using ml::v1::TrainingInput;

constexpr std::chrono::seconds kMaxWaitTimeMin{1800};
constexpr std::int32_t kPriorityMax = 1000;

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
}

bool IsVisible(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; }

/// Whether `name` consists of the pattern's words joined by '/'. An empty word of the pattern matches any
/// text that is not empty and has no spaces or control characters; these texts are added to `found`, in
/// order.
bool Match(std::string_view name, std::span<const std::string_view> pattern,
           std::span<std::string_view> found) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view word = name.substr(0, name.find('/'));
    const bool last = i + 1 == pattern.size();
    if (word.empty() || (last != (word.size() == name.size()))) return false;
    if (pattern[i].empty()) {
      if (!std::ranges::all_of(word, IsVisible)) return false;
      found[next++] = word;
    } else if (pattern[i] != word) {
      return false;
    }
    if (!last) name.remove_prefix(word.size() + 1);
  }
  return true;
}

using cluster::Role;
using cluster::Roles;

std::unexpected<Error> Missing(std::string_view field, std::string text) {
  return std::unexpected(FailedPrecondition(std::move(text), field));
}

bool HasRuntime(const std::string& image, const ValidationContext& context) {
  return std::ranges::any_of(context.runtime_images,
                             [&](const std::string& pattern) { return MatchesImage(pattern, image); });
}

}  // namespace

Violations Scheduling(const Job& job, const ValidationContext&) {
  const ml::v1::Scheduling& scheduling = job.training_input().scheduling();
  Violations found;
  if (scheduling.has_max_running_time() &&
      wire::FromProto(scheduling.max_running_time()) <= std::chrono::nanoseconds{0})
    Add(Invalid("scheduling.max_running_time", "The maximum running time must be greater than zero."), found);
  if (scheduling.has_max_wait_time() && wire::FromProto(scheduling.max_wait_time()) < kMaxWaitTimeMin)
    Add(Invalid("scheduling.max_wait_time", "The minimum for this field is 1800s (30 minutes)."), found);
  if (scheduling.priority() < 0 || scheduling.priority() > kPriorityMax)
    Add(Invalid("scheduling.priority", "The priority must be in the range [0, 1000]."), found);
  return found;
}

Status Network(const Job& job, const ValidationContext&) {
  const std::string& network = job.training_input().network();
  if (network.empty()) return {};
  constexpr std::array<std::string_view, 5> kPattern = {"projects", "", "global", "networks", ""};
  std::array<std::string_view, 2> found;
  if (Match(network, kPattern, found) && IsNumber(found[0])) return {};
  return Invalid("network",
                 "The format of this field is projects/{project}/global/networks/{network}, where {project} "
                 "is a project "
                 "number and {network} is a network name.");
}

Status ServiceAccount(const Job& job, const ValidationContext&) {
  const std::string& account = job.training_input().service_account();
  if (account.empty()) return {};
  const std::size_t at = account.find('@');
  const bool good = at != std::string::npos && at > 0 && at + 1 < account.size() &&
                    account.find('@', at + 1) == std::string::npos && std::ranges::all_of(account, IsVisible);
  if (good) return {};
  return Invalid("service_account", "'" + account + "' is not the email address of a service account.");
}

Status EncryptionKey(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!input.has_encryption_config()) return {};
  constexpr std::string_view kField = "encryption_config.kms_key_name";
  constexpr std::array<std::string_view, 8> kPattern = {"projects", "", "locations",  "",
                                                        "keyRings", "", "cryptoKeys", ""};
  std::array<std::string_view, 4> found;
  if (!Match(input.encryption_config().kms_key_name(), kPattern, found)) {
    return Invalid(kField,
                   "The format of this field is "
                   "projects/{project}/locations/{location}/keyRings/{keyRing}/cryptoKeys/{cryptoKey}.");
  }
  if (found[1] != input.region()) {
    return Invalid(kField, "The key must be in the region of the job, " + input.region() + ", not in " +
                               std::string(found[1]) + ".");
  }
  return {};
}

Status Containers(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  if (context.containers || AlgorithmOf(input, context.mapped_images) != nullptr) return {};
  const bool has_package = !input.package_uris().empty() && !input.python_module().empty();
  const bool in_runtime = has_package && HasRuntime(input.master_config().image_uri(), context);
  for (const Role& role : Roles(input)) {
    const std::string& image = role.config.image_uri();
    if (image.empty()) continue;
    if (in_runtime && HasRuntime(image, context)) continue;
    return Missing(std::string(role.field) + "_config.image_uri",
                   "This server does not run containers. " + context.no_containers +
                       (context.no_containers.empty() ? "" : " ") +
                       "A Python package (package_uris and python_module) runs without an image.");
  }
  return {};
}

Status Tuning(const Job& job, const ValidationContext& context) {
  if (context.tuning || !job.training_input().has_hyperparameters()) return {};
  return Missing("hyperparameters", "This server does not tune hyperparameters. Submit a job without them.");
}

Status AcceleratorsHere(const Job& job, const ValidationContext& context) {
  const auto groups = cluster::Groups(job.training_input());
  if (!groups) return {};
  for (const cluster::ReplicaGroup& group : *groups) {
    const auto type = group.accelerators.type;
    if (group.accelerators.count == 0 || (cluster::IsGpu(type) ? context.gpus : context.tpus)) continue;
    if (cluster::IsTpu(type) && AlgorithmOf(job.training_input(), context.mapped_images) != nullptr)
      continue;  // it trains without
    return Missing(
        cluster::AcceleratorField(job.training_input(), group.type),
        "This server has no " + std::string(cluster::IsGpu(type) ? "GPUs" : "TPUs") + ": the job asks for " +
            std::to_string(group.accelerators.count) + " " + ml::v1::AcceleratorConfig::Type_Name(type) +
            " in a machine of type " + std::string(group.machine->name) + "." +
            (cluster::IsTpu(type) ? " With --accelerator-map tpu-v2=cpu (serve), jobs train on the "
                                    "CPU in the TPU's place."
                                  : ""));
  }
  return {};
}

}  // namespace trainyard::jobs::rules
