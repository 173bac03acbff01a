// projects.jobs.validate, an extension: the errors that create would report.
#include <optional>
#include <set>
#include <utility>

#include "control/intake/job_quotas.h"
#include "control/job_service.h"
#include "rules/jobs/study.h"
#include "stores/store/job_rules.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

/// Records the store's errors about the job; others (a full disk) are not about the job, and name no field.
void Note(const Error& error, JobMaker::Checked& checked) {
  if (IsVerdict(error) && !error.field.empty())
    checked.violations.push_back(error);
  else
    checked.not_asked.push_back(NotAsked(error));
}

/// Shows the job as it would be, without the fields that are set when it is created.
void Show(const JobMaker::Checked& checked, v1::JobCheck& check) {
  const v1::JobRecord& record = checked.made.record;
  *check.mutable_job() = record.job();
  check.mutable_job()->clear_create_time();
  check.mutable_job()->clear_state();
  for (const auto* texts : {&record.warnings(), &record.notes(), &record.remarks()})
    for (const std::string& text : *texts) check.add_notes(text);
  // The same failing store may have been read twice.
  const std::set<std::string> not_asked(checked.not_asked.begin(), checked.not_asked.end());
  for (const std::string& text : not_asked) check.add_notes(text);
}

}  // namespace

boost::asio::awaitable<Result<v1::JobCheck>> JobService::Check(std::string project, Job job,
                                                               Creator creator) {
  co_await recovered_.Wait();
  std::string inherited;
  std::optional<Error> unread;
  if (job.training_input().has_hyperparameters()) {
    ml::v1::HyperparameterSpec& spec = *job.mutable_training_input()->mutable_hyperparameters();
    const Result<std::optional<v1::JobRecord>> previous =
        co_await registry_.tuning().FindPrevious(project, spec.resume_previous_job_id());
    if (!previous) unread = previous.error();
    if (previous && *previous) inherited = jobs::InheritSpec(**previous, spec);
  }
  JobMaker::Checked checked = co_await maker_.Check(project, std::move(job), std::move(creator));
  if (unread) Note(*unread, checked);
  v1::JobRecord& record = checked.made.record;
  jobs::Violations& violations = checked.violations;
  if (!inherited.empty()) record.add_remarks(inherited);
  const bool is_whole = !record.project().empty();
  if (is_whole && record.has_tuning()) {
    const auto resumed = co_await registry_.tuning().FindResumed(record);
    if (!resumed) Note(resumed.error(), checked);
  }
  if (is_whole)
    if (Status fits = CheckQuota(record, checked.made); !fits) violations.push_back(fits.error());
  if (outside_.bounds.check_space)
    if (Status space = outside_.bounds.check_space(); !space) violations.push_back(space.error());
  const auto taken = co_await outside_.journal.Read(
      [&](store::JobStore& jobs) { return jobs.Get(project, record.job().job_id()); });
  if (taken) violations.push_back(store::JobExists(taken));
  if (!taken && taken.error().code != Code::kNotFound) Note(taken.error(), checked);
  v1::JobCheck check;
  for (const Error& violation : violations) {
    v1::JobCheck::Violation& shown = *check.add_violations();
    shown.set_field(violation.field);
    shown.set_description(violation.message);
  }
  Show(checked, check);
  co_return check;
}

}  // namespace trainyard::control
