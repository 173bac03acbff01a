#include "engine/slurm/slurm_setup.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/process/account_name.h"
#include "engine/slurm/slurm_rest.h"
#include "engine/slurm/slurm_tools.h"

namespace trainyard::engine {

namespace {

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// All options that jobs may use: the general ones and those of each machine type.
std::vector<slurm::Options> AllOptions(const slurm::SlurmSettings& settings) {
  std::vector<slurm::Options> all{settings.options};
  for (const auto& [type, machine] : settings.machine_types) {
    slurm::Options options = slurm::WithOptionsOf(settings.options, machine.options);
    if (std::ranges::find(all, options) == all.end()) all.push_back(std::move(options));
  }
  return all;
}

/// Checks the partitions; an error also lists the existing ones.
Status CheckPartitions(const slurm::SlurmSettings& settings, std::span<const slurm::Node> nodes) {
  std::set<std::string> known;
  for (const slurm::Node& node : nodes) known.insert(node.partition);
  std::set<std::string> named;
  for (const slurm::Options& options : AllOptions(settings)) named.insert(options.partition);
  for (const auto& [region, partition] : settings.regions) named.insert(partition);
  for (const std::string& name : named) {
    if (name.empty() || known.contains(name)) continue;
    return std::unexpected(
        FailedPrecondition("Slurm has no partition '" + name + "'; it has " + Joined(known)));
  }
  return {};
}

/// Since 23.02 slurmrestd does not report which partition is the default, but job sizes are chosen for its
/// nodes.
Status CheckDefaultPartition(const EngineOptions& options, std::span<const slurm::Node> nodes) {
  if (options.slurm_rest.empty() || !options.slurm.options.partition.empty() || nodes.empty() ||
      std::ranges::any_of(nodes, &slurm::Node::default_partition))
    return {};
  return std::unexpected(FailedPrecondition(
      "slurmrestd does not say which partition is the default: set one with --slurm-partition"));
}

}  // namespace

Result<std::unique_ptr<SlurmClient>> MakeSlurmClient(const EngineOptions& options) {
  if (options.slurm_rest.empty())
    return std::make_unique<SlurmTools>(SlurmToolOptions{.folder = options.slurm_tools});
  const uid_t account = ::geteuid();
  TY_TRY(http::Endpoint endpoint, http::Endpoint::Parse(options.slurm_rest));
  return std::make_unique<SlurmRest>(
      SlurmRestOptions{.endpoint = std::move(endpoint),
                       .owner = {.number = account, .name = AccountName(account)},
                       .token_file = options.slurm_rest_token_file});
}

Result<std::vector<slurm::Node>> CheckSlurm(const EngineOptions& options, const SlurmClient& client) {
  SlurmAnswer<std::vector<slurm::Node>> nodes = client.Nodes();
  if (!nodes && nodes.error().failure == slurm::Failure::kMistake)
    return std::unexpected(FailedPrecondition("--engine slurm: " + nodes.error().words));
  if (!nodes) {
    Diagnose(DiagnosticLevel::kWarning,
             "Slurm does not answer: " + nodes.error().words + "; jobs wait until it does");
    return std::vector<slurm::Node>();
  }
  TY_RETURN_IF_ERROR(CheckPartitions(options.slurm, *nodes));
  TY_RETURN_IF_ERROR(CheckDefaultPartition(options, *nodes));
  for (const slurm::Options& asked : AllOptions(options.slurm)) {
    if (asked == slurm::Options()) continue;
    if (const SlurmAnswer<void> known = client.Check(asked); !known)
      return std::unexpected(
          FailedPrecondition("Slurm refuses the settings of the engine: " + known.error().words));
  }
  return *std::move(nodes);
}

}  // namespace trainyard::engine
