#include "engine/local/project_shares.h"

#include <iomanip>
#include <sstream>

namespace trainyard::engine {

namespace {

/// "31 %", "0.4 %".
std::string Percent(double part) {
  constexpr double kHundred = 100;
  constexpr double kOne = 0.01;
  std::ostringstream text;
  text << std::fixed << std::setprecision(part > 0 && part < kOne ? 1 : 0) << part * kHundred << " %";
  return text.str();
}

/// Names the weight if the weights differ.
std::string PartText(double part, double weight, double other_weight) {
  if (weight == other_weight) return Percent(part);
  std::ostringstream text;
  text << Percent(part) << " (weight " << weight << ")";
  return text.str();
}

}  // namespace

double ProjectShares::WeightOf(const std::string& project) const {
  const auto found = options_.weights.find(project);
  return found == options_.weights.end() ? 1 : found->second;
}

void ProjectShares::Restore(const Uses& uses, SysTime as_of) {
  for (const auto& [project, used] : uses) uses_.Restore(project, used, as_of);
}

void ProjectShares::Start(const placement::Gang& gang, const placement::Holding& holding) {
  uses_.Start(gang.uid, gang.project, holding, gang.start_time.value_or(Now()));
}

void ProjectShares::Stop(std::int64_t uid) {
  uses_.Stop(uid, Now());
  if (on_use_) on_use_();
}

/// With only one project there is nothing to order.
void ProjectShares::Rank(placement::Queue& queue) const {
  if (queue.project_count() < 2) return;
  const SysTime now = Now();
  std::map<std::string, placement::Standing> standings;
  for (const std::string& project : queue.Projects()) {
    standings[project] = {.score = uses_.ScoreOf(project, now),
                          .weight = WeightOf(project),
                          .last_admitted = uses_.Of(project, now).last_admitted};
  }
  queue.SetStandings(standings, now);
}

void ProjectShares::Explain(const placement::Gang& gang, const std::string& before,
                            const placement::Queue& queue, placement::Wait& wait) const {
  if (before == gang.project) return;
  const std::string name = options_.naming.Project(before, gang.project);
  if (queue.IsOverdue(before)) {
    wait.reason += " Next is " + name + ", which has waited for more than " +
                   std::to_string(placement::kPatience.count()) + " days.";
    return;
  }
  const auto used = uses_.Compare(before, gang.project, Now());
  const double weight = WeightOf(before);
  const double own_weight = WeightOf(gang.project);
  const bool less = used.first / weight <= used.second / own_weight;
  wait.reason += less ? " Next is " + name + ": it used " : " Projects take turns: " + name + " used ";
  wait.reason += PartText(used.first, weight, own_weight) + " of the recent " + std::string(used.resource) +
                 ", yours " + PartText(used.second, own_weight, weight) + ".";
}

}  // namespace trainyard::engine
