#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <iomanip>
#include <sstream>

#include "engine/local/local_allocator.h"

/// How projects share the machine: their order, their quotas, and what is said of both.
namespace trainyard::engine {

namespace {

/// Between two looks at the order of projects while nothing else changes: what runs goes on counting.
constexpr std::chrono::seconds kOrderPause{60};

double CpusOf(const placement::Gang& gang) {
  double cpus = 0;
  for (const placement::Gang::Replica& replica : gang.replicas) cpus += replica.cpus;
  return cpus;
}

/// GPUs, and TPU boards.
int DevicesOf(const Grant& grant) {
  int devices = 0;
  for (const Slot& slot : grant.slots())
    devices += slot.devices().gpus_size() + (slot.devices().tpu_node_name().empty() ? 0 : 1);
  return devices;
}

/// "31 %", "0.4 %".
std::string Percent(double part) {
  constexpr double kHundred = 100;
  constexpr double kOne = 0.01;
  std::ostringstream text;
  text << std::fixed << std::setprecision(part > 0 && part < kOne ? 1 : 0) << part * kHundred << " %";
  return text.str();
}

/// With the weight where it makes a difference.
std::string PartText(double part, double weight, double other_weight) {
  if (weight == other_weight) return Percent(part);
  std::ostringstream text;
  text << Percent(part) << " (weight " << weight << ")";
  return text.str();
}

}  // namespace

placement::Holding LocalAllocator::AskedBy(const placement::Gang& gang) const {
  return {.accelerators = static_cast<double>(devices_.CountOf(gang)), .cpus = CpusOf(gang)};
}

void LocalAllocator::RestoreUse(const std::map<std::string, placement::ProjectUse>& use, SysTime as_of) {
  for (const auto& [project, used] : use) uses_.Restore(project, used, as_of);
}

void LocalAllocator::StartUse(const placement::Gang& gang, const Grant& grant) {
  uses_.Start(gang.uid, gang.project,
              {.accelerators = static_cast<double>(DevicesOf(grant)), .cpus = CpusOf(gang)},
              gang.start_time.value_or(Now()));
}

double LocalAllocator::WeightOf(const std::string& project) const {
  const auto found = weights_.find(project);
  return found == weights_.end() ? 1 : found->second;
}

/// One project alone has no order among projects.
void LocalAllocator::RankProjects() {
  if (queue_.project_count() < 2) return;
  const SysTime now = Now();
  std::map<std::string, placement::Standing> standings;
  for (const std::string& project : queue_.Projects()) {
    standings[project] = {.score = uses_.ScoreOf(project, now),
                          .weight = WeightOf(project),
                          .last_admitted = uses_.Of(project, now).last_admitted};
  }
  queue_.SetStandings(standings, now);
}

/// Room that is free may be somebody else's turn later, although nobody comes or goes.
void LocalAllocator::WatchTheOrder() {
  if (watching_order_ || clock_ == nullptr || queue_.project_count() < 2) return;
  watching_order_ = true;
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kOrderPause);
  timer->async_wait([this, timer, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    watching_order_ = false;
    PlanSoon();
  });
}

placement::QuotaGate LocalAllocator::Gate() const {
  if (quotas_ == nullptr || quotas_->empty()) return {};
  placement::QuotaGate gate(*quotas_, naming_);
  for (const auto& [uid, one] : running_) gate.Take(one.gang, devices_.DemandOf(one.gang));
  return gate;
}

/// Says, where another project is before it, how much of the machine both used.
placement::Wait LocalAllocator::TurnOf(const placement::Gang& gang) const {
  placement::Wait wait = queue_.TurnOf(gang, naming_.Job(blocker_, gang.project), naming_);
  const std::string& before = wait.position > 1 ? queue_.FirstOf(gang).project : blocker_.project;
  if (before == gang.project || (wait.position == 1 && blocker_.job_id.empty())) return wait;
  const std::string name = naming_.Project(before, gang.project);
  if (queue_.IsOverdue(before)) {
    wait.reason += " First comes " + name + ", which has waited for more than " +
                   std::to_string(placement::kPatience.count()) + " days.";
    return wait;
  }
  const auto used = uses_.Compare(before, gang.project, Now());
  const double weight = WeightOf(before);
  const double own_weight = WeightOf(gang.project);
  const bool less = used.first / weight <= used.second / own_weight;
  wait.reason += less ? " First comes " + name + ": it used " : " Projects take turns: " + name + " used ";
  wait.reason += PartText(used.first, weight, own_weight) + " of the recent " + std::string(used.resource) +
                 ", yours " + PartText(used.second, own_weight, weight) + ".";
  return wait;
}

LocalAllocator::MachineUse LocalAllocator::Occupancy() const {
  MachineUse use{.capacity = capacity_};
  for (const auto& [uid, one] : running_) {
    for (const placement::Gang::Replica& replica : one.gang.replicas) {
      use.cpus_held += replica.cpus;
      use.memory_bytes_held += replica.memory_bytes;
    }
  }
  for (std::size_t i = 0; i < devices_.devices().size(); ++i) {
    const placement::JobLabel* holder = devices_.HolderOf(i);
    use.devices.push_back({.device = devices_.devices()[i],
                           .holder = holder != nullptr ? std::optional(*holder) : std::nullopt});
  }
  const SysTime now = Now();
  for (const auto& [project, used] : uses_.All(now))
    use.projects[project] = {.used = used, .part = uses_.PartOf(project, now), .weight = WeightOf(project)};
  return use;
}

}  // namespace trainyard::engine
