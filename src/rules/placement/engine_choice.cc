#include "rules/placement/engine_choice.h"

#include <algorithm>

#include "rules/placement/quota.h"
#include "rules/placement/submission.h"

namespace trainyard::placement {

namespace {

std::string_view NameOf(EngineChoice::Kind kind) {
  switch (kind) {
    case EngineChoice::Kind::kSlurm: return kSlurmEngine;
    case EngineChoice::Kind::kKubernetes: return kKubernetesEngine;
    case EngineChoice::Kind::kLocal: break;
  }
  return kLocalEngine;
}

/// The cluster for jobs whose region names none: that of --engine, else the one that some region uses.
std::string_view ClusterOf(const EngineChoice& choice) {
  if (choice.kind != EngineChoice::Kind::kLocal) return NameOf(choice.kind);
  return Uses(choice, kSlurmEngine) ? kSlurmEngine : kKubernetesEngine;
}

}  // namespace

bool Uses(const EngineChoice& choice, std::string_view engine) {
  const auto is_named = [engine](const auto& region) { return NameOf(region.second) == engine; };
  return NameOf(choice.kind) == engine || std::ranges::any_of(choice.regions, is_named);
}

std::string_view EngineOf(const EngineChoice& choice, const DevicePool& here, const Gang& gang) {
  if (const auto named = choice.regions.find(gang.region); named != choice.regions.end())
    return NameOf(named->second);
  return here.LackOf(gang) ? ClusterOf(choice) : NameOf(choice.kind);
}

bool OffersAccelerator(const EngineChoice& choice, const DevicePool& here, const std::string& region,
                       ml::v1::AcceleratorConfig::Type type,
                       const std::function<bool(std::string_view engine)>& there) {
  if (!there && here.devices().empty()) return true;
  const Gang job{.job_id = {}, .region = region, .replicas = {{.accelerator = type, .accelerator_count = 1}}};
  const std::string_view engine = there ? EngineOf(choice, here, job) : kLocalEngine;
  return engine == kLocalEngine ? !here.LackOf(job) : there(engine);
}

std::string_view EngineOfAgent(std::string_view agent) {
  if (agent.empty()) return kLocalEngine;
  return agent.substr(agent.find('/') + 1).starts_with(kPodMark) ? kKubernetesEngine : kSlurmEngine;
}

std::string_view EngineOf(const replica::v1::Grant& grant) {
  const auto has_agent = [](const replica::v1::Slot& slot) { return !slot.agent().empty(); };
  const auto with_agent = std::ranges::find_if(grant.slots(), has_agent);
  return EngineOfAgent(with_agent == grant.slots().end() ? "" : with_agent->agent());
}

}  // namespace trainyard::placement
