#include "control/views/job_presenter.h"

#include "control/run/web_access.h"
#include "control/views/job_listing.h"
#include "rules/jobs/job_row.h"

namespace trainyard::control {

using ml::v1::Job;

Job JobPresenter::Present(const v1::JobRecord& record) const {
  Job job = record.job();
  if (const JobRunner* runner = registry_.Find(record.uid())) {
    if (const std::optional<placement::Wait> wait = runner->WaitForRoom())
      job.set_job_position(wait->position);
  }
  job.set_etag(Etag(record));
  for (const auto& [task_name, uri] : WebAccessUris(outside_.settings, record))
    (*job.mutable_training_output()->mutable_web_access_uris())[task_name] = uri;
  return job;
}

boost::asio::awaitable<Result<Job>> JobPresenter::Show(v1::JobRecord record, int trials_max) {
  Job job = Present(record);
  if (record.has_tuning())
    TY_CO_RETURN_IF_ERROR(co_await registry_.tuning().Complete(std::move(record), job, trials_max));
  co_return job;
}

std::optional<jobs::Waiting> JobPresenter::WhyWaiting(const v1::JobRecord& record) const {
  if (const JobRunner* runner = registry_.Find(record.uid())) return runner->WhyWaiting();
  const TuningRunner* tuner = registry_.tuning().Find(record.uid());
  if (tuner == nullptr) return std::nullopt;
  std::optional<jobs::Waiting> waiting = tuner->WhyWaiting();
  const bool waits = record.job().state() == Job::QUEUED || record.job().state() == Job::PREPARING;
  if (waiting || !waits) return waiting;
  for (const JobRunner* trial : tuner->Active())
    if (!waiting) waiting = trial->WhyWaiting();
  return waiting;
}

v1::JobRow JobPresenter::Row(const v1::JobRecord& record) const {
  const std::optional<jobs::Waiting> waiting = WhyWaiting(record);
  return jobs::RowOf(record, waiting ? waiting->reason : "");
}

}  // namespace trainyard::control
