#include "rules/placement/engine_choice.h"

#include <algorithm>

#include "rules/placement/quota.h"

namespace trainyard::placement {

namespace {

std::string_view NameOf(EngineChoice::Kind kind) {
  return kind == EngineChoice::Kind::kSlurm ? kSlurmEngine : kLocalEngine;
}

}  // namespace

bool Uses(const EngineChoice& choice, std::string_view engine) {
  const auto is_named = [engine](const auto& region) { return NameOf(region.second) == engine; };
  return NameOf(choice.kind) == engine || std::ranges::any_of(choice.regions, is_named);
}

std::string_view EngineOf(const EngineChoice& choice, const DevicePool& here, const Gang& gang) {
  if (const auto named = choice.regions.find(gang.region); named != choice.regions.end())
    return NameOf(named->second);
  return here.LackOf(gang) ? kSlurmEngine : NameOf(choice.kind);
}

std::string_view EngineOfAgent(std::string_view agent) { return agent.empty() ? kLocalEngine : kSlurmEngine; }

std::string_view EngineOf(const replica::v1::Grant& grant) {
  const auto has_agent = [](const replica::v1::Slot& slot) { return !slot.agent().empty(); };
  const auto with_agent = std::ranges::find_if(grant.slots(), has_agent);
  return EngineOfAgent(with_agent == grant.slots().end() ? "" : with_agent->agent());
}

}  // namespace trainyard::placement
