#include "rules/placement/project_use.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "base/number.h"

namespace trainyard::placement {
namespace {

constexpr double kHalfLifeSeconds = std::chrono::duration<double>(kUseHalfLife).count();
/// A project without allocations whose use is below these seconds of the whole machine is forgotten.
constexpr double kForgottenSeconds = 1e-3;
/// Such projects are searched when there are this many accounts, and each time the number has doubled.
constexpr std::size_t kAccountsMin = 1'000;

double Seconds(std::chrono::nanoseconds time) {
  return std::max(std::chrono::duration<double>(time).count(), 0.0);  // a clock may be set back
}

double Decay(double seconds) { return std::exp2(-seconds / kHalfLifeSeconds); }

/// The decayed use of one unit at the end of this time.
double Accrued(double seconds) {
  return kHalfLifeSeconds / std::numbers::ln2 * -std::expm1(-seconds / kHalfLifeSeconds * std::numbers::ln2);
}

void Add(ProjectUse& use, const Holding& rate, double seconds) {
  const double accrued = Accrued(seconds);
  use.accelerator_seconds += rate.accelerators * accrued;
  use.cpu_seconds += rate.cpus * accrued;
}

double Part(double of, double all) { return all > 0 ? of / all : 0; }

std::unexpected<Error> Wrong(std::string_view text, std::string_view why) {
  return std::unexpected(
      InvalidArgument("--project-weight", "'" + std::string(text) + "' " + std::string(why)));
}

}  // namespace

ProjectUse PastUse(const Holding& holding, SysTime from, SysTime to, SysTime now) {
  ProjectUse use;
  Add(use, holding, Seconds(to - from));
  use.accelerator_seconds *= Decay(Seconds(now - to));
  use.cpu_seconds *= Decay(Seconds(now - to));
  return use;
}

ProjectUses::ProjectUses(Holding machine) : machine_(machine), accounts_max_(kAccountsMin) {}

void ProjectUses::Restore(const std::string& project, const ProjectUse& use, SysTime time) {
  accounts_[project] = {.use = use, .time = time, .rate = {}, .runs = {}};
  restored_ = std::max(restored_.value_or(time), time);
}

ProjectUse ProjectUses::At(const Account& account, SysTime now) {
  const double seconds = Seconds(now - account.time);
  ProjectUse use = account.use;
  use.accelerator_seconds *= Decay(seconds);
  use.cpu_seconds *= Decay(seconds);
  Add(use, account.rate, seconds);
  return use;
}

void ProjectUses::Start(std::int64_t uid, const std::string& project, const Holding& holding, SysTime since) {
  Stop(uid, since);
  projects_.emplace(uid, project);
  Prune(since);
  const auto [found, is_new] = accounts_.try_emplace(project);
  Account& account = found->second;
  if (is_new) account.time = std::max(since, restored_.value_or(since));
  if (since > account.time) {
    account.use = At(account, since);
    account.time = since;
  } else if (!restored_ || since > *restored_) {
    Add(account.use, holding, Seconds(account.time - since));
  }
  account.use.last_admitted = std::max(account.use.last_admitted.value_or(since), since);
  account.rate.accelerators += holding.accelerators;
  account.rate.cpus += holding.cpus;
  account.runs.emplace(uid, Run{.holding = holding, .since = since});
}

void ProjectUses::Stop(std::int64_t uid, SysTime now) {
  const auto project = projects_.extract(uid);
  if (!project) return;
  Account& account = accounts_.at(project.mapped());
  account.use = At(account, now);
  account.time = std::max(account.time, now);
  const auto run = account.runs.extract(uid);
  account.rate.accelerators -= run.mapped().holding.accelerators;
  account.rate.cpus -= run.mapped().holding.cpus;
  if (account.runs.empty()) account.rate = {};  // removes rounding errors
}

ProjectUse ProjectUses::Of(const std::string& project, SysTime now) const {
  const auto found = accounts_.find(project);
  return found == accounts_.end() ? ProjectUse() : At(found->second, now);
}

std::map<std::string, ProjectUse> ProjectUses::All(SysTime now) const {
  std::map<std::string, ProjectUse> all;
  for (const auto& [project, account] : accounts_) {
    const ProjectUse use = At(account, now);
    if (!account.runs.empty() || MachineSeconds(use) >= kForgottenSeconds) all.emplace(project, use);
  }
  return all;
}

double ProjectUses::MachineSeconds(const ProjectUse& use) const {
  return std::max(Part(use.accelerator_seconds, machine_.accelerators), Part(use.cpu_seconds, machine_.cpus));
}

double ProjectUses::ShareOf(const Holding& holding) const {
  return std::max(
      {Part(holding.accelerators, machine_.accelerators), Part(holding.cpus, machine_.cpus), kShareMin});
}

double ProjectUses::ChargeOf(double share) {
  return std::max(share, kShareMin) * std::chrono::duration<double>(kAssumedRun).count();
}

double ProjectUses::ScoreOf(const std::string& project, SysTime now) const {
  const auto found = accounts_.find(project);
  if (found == accounts_.end()) return 0;
  double score = MachineSeconds(At(found->second, now));
  for (const auto& [uid, run] : found->second.runs) {
    const double left = std::chrono::duration<double>(kAssumedRun).count() - Seconds(now - run.since);
    score += std::max(left, 0.0) * ShareOf(run.holding);
  }
  return score;
}

double ProjectUses::PartOf(const std::string& project, SysTime now) const {
  double all = 0;
  for (const auto& [other, account] : accounts_) all += MachineSeconds(At(account, now));
  return Part(MachineSeconds(Of(project, now)), all);
}

ProjectUses::Comparison ProjectUses::Compare(const std::string& first, const std::string& second,
                                             SysTime now) const {
  const ProjectUse a = Of(first, now);
  const ProjectUse b = Of(second, now);
  const auto is_accelerators = [this](const ProjectUse& use) {
    return Part(use.accelerator_seconds, machine_.accelerators) > Part(use.cpu_seconds, machine_.cpus);
  };
  // If one project used nothing, the other one's resource is named.
  const bool a_used = MachineSeconds(a) > 0;
  const bool b_used = MachineSeconds(b) > 0;
  const bool accelerators = a_used ? is_accelerators(a) : is_accelerators(b);
  if (a_used && b_used && is_accelerators(a) != is_accelerators(b))
    return {.resource = "machine's time", .first = PartOf(first, now), .second = PartOf(second, now)};
  double all = 0;
  const auto of = [accelerators](const ProjectUse& use) {
    return accelerators ? use.accelerator_seconds : use.cpu_seconds;
  };
  for (const auto& [other, account] : accounts_) all += of(At(account, now));
  return {.resource = accelerators ? "GPU time" : "CPU time",
          .first = Part(of(a), all),
          .second = Part(of(b), all)};
}

/// Bounds the memory: users may invent any number of project names.
void ProjectUses::Prune(SysTime now) {
  if (accounts_.size() < accounts_max_) return;
  std::erase_if(accounts_, [&](const auto& account) {
    return account.second.runs.empty() && MachineSeconds(At(account.second, now)) < kForgottenSeconds;
  });
  accounts_max_ = std::max(kAccountsMin, accounts_.size() * 2);
}

Result<ProjectWeights> ParseProjectWeights(std::span<const std::string> texts) {
  ProjectWeights weights;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return Wrong(text, "is not PROJECT=WEIGHT, as research=2");
    const std::string_view digits = std::string_view(text).substr(equals + 1);
    const double weight = WholeNumber<double>(digits).value_or(0);
    if (!(weight >= kProjectWeightMin && weight <= kProjectWeightMax))
      return Wrong(text, "has no weight between 0.001 and 1000");
    if (!weights.emplace(text.substr(0, equals), weight).second)
      return Wrong(text, "has two weights for one project");
  }
  return weights;
}

}  // namespace trainyard::placement
