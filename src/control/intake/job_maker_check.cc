// Checks a job without creating it: the steps of JobMaker::Make, of which an error does not end the rest.
#include <tuple>
#include <utility>

#include "control/intake/job_maker.h"

namespace trainyard::control {

namespace {

/// Records the job's error, or that a look-up failed. The next step follows in any case.
Status Note(const Status& status, JobMaker::Checked& checked) {
  if (status) return {};
  if (IsVerdict(status.error()))
    checked.violations.push_back(status.error());
  else
    checked.not_asked.push_back(NotAsked(status.error()));
  return {};
}

}  // namespace

bool IsVerdict(const Error& error) {
  switch (error.code) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition: return true;
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kDeadlineExceeded:
    case Code::kAborted:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kInternal:
    case Code::kUnavailable:
    case Code::kDataLoss:
    case Code::kUnauthenticated: return false;
  }
  return false;
}

std::string NotAsked(const Error& error) {
  const std::string what = error.field.empty() ? "A part of this" : error.field;
  return what + " could not be looked up now, so it may be refused when the job is created: " +
         error.message.substr(0, error.message.find_last_not_of('.') + 1) + ".";
}

const ImageRegistries* JobMaker::RegistriesForChecks() {
  // A container program may be found later: results without one are not cached.
  if (policy_.registries == nullptr || !policy_.registries->resolve) return policy_.registries;
  if (registries_for_checks_.resolve) return &registries_for_checks_;
  registries_for_checks_ = *policy_.registries;
  registries_for_checks_.resolve = [kept = kept_look_ups_, resolve = policy_.registries->resolve](
                                       const std::string& image, std::chrono::milliseconds timeout,
                                       const std::stop_token& stop) {
    return kept->Resolve(resolve, image, timeout, stop);
  };
  return &registries_for_checks_;
}

boost::asio::awaitable<JobMaker::Checked> JobMaker::Check(std::string project, ml::v1::Job job,
                                                          Creator creator) {
  co_await LookForWhatRuns(job);
  Checked checked{.violations = jobs::FindViolations(job, context_), .not_asked = {}, .made = {}};
  checked.made.secrets = jobs::TakeSecrets(job);
  if (!checked.violations.empty()) {
    *checked.made.record.mutable_job() = std::move(job);
    co_return checked;
  }
  const Handling way{.found = [&checked](const Status& status) { return Note(status, checked); },
                     .absent = JobDirs::Absent::kOnlySay,
                     .registries = RegistriesForChecks()};
  std::ignore = co_await LookUp(std::move(project), job, creator, way, checked.made);
  co_return checked;
}

}  // namespace trainyard::control
