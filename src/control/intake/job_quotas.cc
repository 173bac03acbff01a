#include "control/intake/job_quotas.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "rules/jobs/trial.h"
#include "rules/placement/gang.h"
#include "rules/placement/wait.h"

namespace trainyard::control {

namespace {

using placement::QuotaLimit;

/// The subject of a quota.
struct Subject {
  std::string name;  ///< "project:research"
  const JobQuotaCase& job;
  const placement::Quotas& quotas;

  [[nodiscard]] std::optional<QuotaLimit> Limit(std::string_view resource) const {
    return quotas.Of(name, resource);
  }
  /// The limit on what it would use on its engine.
  [[nodiscard]] std::optional<QuotaLimit> LimitThere(std::string_view resource) const {
    return quotas.Of(name, resource, job.engine);
  }
  [[nodiscard]] bool Owns(const v1::JobRecord& other) const {
    return name == placement::ProjectSubject(other.project()) || name == other.creator();
  }
};

/// "Quota failure for project research. The request for 1 job exceeds the allowed maximum of ...".
Status Exceeded(const Subject& subject, const QuotaLimit& limit, const std::string& asked,
                const std::string& allowed, const std::string& more) {
  std::string description =
      "The request for " + asked + " exceeds the allowed maximum of " + allowed + "." + more;
  Error error{.code = Code::kResourceExhausted,
              .message = "Quota failure for " + placement::SubjectText(subject.name) + ". " + description +
                         " The server's operator sets it: trainyard serve --quota " + limit.Text() + ".",
              .field = {}};
  error.violations.push_back({.field = subject.name, .description = std::move(description)});
  return std::unexpected(std::move(error));
}

std::string GpuText(std::string_view resource, std::int64_t number) {
  if (resource == placement::kGpusQuota) return placement::Counted(number, "GPU");
  return std::to_string(number) + " " + std::string(resource);
}

Status CheckDemand(const Subject& subject) {
  for (const auto& [resource, asked] : subject.job.demand) {
    const auto limit = subject.LimitThere(resource);
    if (!limit || asked <= limit->limit) continue;
    return Exceeded(subject, *limit, GpuText(resource, asked), GpuText(resource, limit->limit), "");
  }
  const auto jobs = subject.LimitThere(placement::kJobsQuota);
  if (!jobs || jobs->limit > 0) return {};
  return Exceeded(subject, *jobs, "1 job", "0 running jobs", "");
}

Status CheckUnfinished(const Subject& subject) {
  const auto limit = subject.Limit(placement::kUnfinishedJobsQuota);
  if (!limit) return {};
  std::vector<placement::JobLabel> held;
  for (const v1::JobRecord* other : subject.job.unfinished) {
    if (subject.Owns(*other)) held.push_back({.project = other->project(), .job_id = other->job().job_id()});
  }
  const auto count = static_cast<std::int64_t>(held.size());
  if (count < limit->limit) return {};
  const std::string& viewer = subject.job.asking.project();
  const std::string have = count == 0 ? ""
                                      : " " + placement::Naming{.others = false}.Jobs(held, viewer) +
                                            (count == 1 ? " has" : " have") + " not ended.";
  return Exceeded(subject, *limit, "1 job", placement::Counted(limit->limit, "unfinished job"), have);
}

Status CheckBytes(const Subject& subject, std::string_view resource, std::int64_t kept,
                  const std::string& what) {
  const auto limit = subject.Limit(resource);
  if (!limit || kept < limit->limit) return {};
  return Exceeded(subject, *limit, "1 job", placement::BytesText(limit->limit) + " of " + what,
                  " The project has " + placement::BytesText(kept) + ": remove some, then create the job.");
}

jobs::AcceleratorCounts AcceleratorsOf(const v1::JobRecord& job) {
  jobs::AcceleratorCounts counts = jobs::AcceleratorsOf(job.job().training_input());
  if (!job.has_tuning()) return counts;
  for (auto& [type, count] : counts) count *= jobs::MaxParallelTrials(job);
  return counts;
}

}  // namespace

Status CheckAccelerators(const jobs::AcceleratorCounts& quota, const JobQuotaCase& job) {
  jobs::AcceleratorDemand demand{.held = {}, .asked = AcceleratorsOf(job.asking)};
  if (quota.empty() || demand.asked.empty()) return {};
  for (const v1::JobRecord* other : job.unfinished) {
    if (other->project() != job.asking.project()) continue;
    for (const auto& [type, held] : AcceleratorsOf(*other)) demand.held[type] += held;
  }
  return jobs::CheckAcceleratorQuota(quota, job.asking.project(), demand);
}

Status CheckJobQuotas(const placement::Quotas& quotas, const JobQuotaCase& job) {
  const std::string& project = job.asking.project();
  for (const std::string& name : {placement::ProjectSubject(project), job.asking.creator()}) {
    if (name.empty()) continue;
    const Subject subject{.name = name, .job = job, .quotas = quotas};
    TY_RETURN_IF_ERROR(CheckDemand(subject));
    TY_RETURN_IF_ERROR(CheckUnfinished(subject));
  }
  if (job.bytes == nullptr) return {};
  const Subject subject{.name = placement::ProjectSubject(project), .job = job, .quotas = quotas};
  if (job.bytes->buckets)
    TY_RETURN_IF_ERROR(
        CheckBytes(subject, placement::kBucketBytesQuota, job.bytes->buckets(project), "objects in buckets"));
  const auto logs = job.bytes->logs.find(project);
  return CheckBytes(subject, placement::kLogBytesQuota, logs == job.bytes->logs.end() ? 0 : logs->second,
                    "logs");
}

}  // namespace trainyard::control
