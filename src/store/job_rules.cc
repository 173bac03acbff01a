#include "store/job_rules.h"

#include <limits>

#include "base/check.h"

namespace trainyard::store {

namespace {

std::string ListContext(std::string_view project) { return "jobs.list " + std::string(project); }

}  // namespace

// Source of both texts: docs/spec "API", errors of jobs.create and jobs.get.
Error JobExists() { return {Code::kAlreadyExists, "A job with this id already exists.", "job.job_id"}; }

Error NoSuchJob() { return {Code::kNotFound, "The job cannot be found.", "name"}; }

Error StaleRevision(const JobRecord& after) {
  return {Code::kAborted,
          "job " + after.job().job_id() + " is not at revision " + std::to_string(after.revision() - 1) +
              " any more",
          {}};
}

std::string UniqueName(const JobRecord& record) {
  const std::string& job_id = record.job().job_id();
  return record.has_trial() ? job_id + "/" + record.trial().trial_id() : job_id;
}

void CheckEventMatches(const JobRecord& after, const Event& event) {
  TY_CHECK(event.seq() == after.revision());
  TY_CHECK(after.revision() > 1);
}

void CompleteEvent(Event& event, std::int64_t uid, std::int64_t seq) {
  event.set_seq(seq);
  if (event.has_created() && event.created().has_record())
    event.mutable_created()->mutable_record()->set_uid(uid);
}

std::string SealJobPageToken(const PageTokenKey& key, std::string_view project, std::int64_t uid) {
  return SealPageToken(key, ListContext(project), {&uid, 1});
}

Result<std::int64_t> OpenJobPageToken(const PageTokenKey& key, std::string_view project,
                                      std::string_view token) {
  std::int64_t uid = std::numeric_limits<std::int64_t>::max();
  if (token.empty()) return uid;
  TY_RETURN_IF_ERROR(OpenPageToken(key, ListContext(project), token, {&uid, 1}));
  return uid;
}

}  // namespace trainyard::store
