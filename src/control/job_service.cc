#include "control/job_service.h"

#include <algorithm>
#include <charconv>

#include "async/diagnostics.h"
#include "control/manifest.h"
#include "jobs/transition.h"
#include "wire/filter.h"
#include "wire/time.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

constexpr std::string_view kNoSuchJob = "The job cannot be found.";

v1::Event Stamped(v1::Event event, std::int64_t seq, SysTime now) {
  event.set_seq(seq);
  *event.mutable_time() = wire::ToProto(now);
  return event;
}

/// What the job's events so far have said in its log.
Result<std::vector<jobs::ServiceLine>> SaidSoFar(const std::vector<v1::Event>& events) {
  std::vector<jobs::ServiceLine> said;
  v1::JobRecord job;
  for (const v1::Event& event : events) {
    TY_TRY(job, jobs::Apply(job, event));
    std::vector<jobs::ServiceLine> lines = jobs::LinesFor(job, event);
    said.insert(said.end(), lines.begin(), lines.end());
  }
  return said;
}

Result<bool> WantsEtag(std::string_view mask) {
  if (mask.empty())
    return std::unexpected(InvalidArgument("update_mask", "The update mask is required: labels, etag"));
  bool etag = false;
  while (!mask.empty()) {
    std::string_view path = mask.substr(0, mask.find(','));
    mask.remove_prefix(std::min(mask.size(), path.size() + 1));
    if (path == "etag") {
      etag = true;
    } else if (path != "labels") {
      return std::unexpected(InvalidArgument(
          "update_mask", "Only labels and etag can be updated, not '" + std::string(path) + "'"));
    }
  }
  return etag;
}

template <class Number>
bool ParseNumber(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

JobService::JobService(Collaborators outside, JobMaker& maker)
    : outside_(std::move(outside)), maker_(maker), tasks_(outside_.loop) {
  outside_.engine.SetOnGone([this, alive = std::weak_ptr<bool>(alive_)](const std::string& attempt_id) {
    if (!alive.expired()) OnGone(attempt_id);
  });
}

boost::asio::awaitable<Status> JobService::Recover() {
  TY_CO_TRY(std::vector<v1::JobRecord> unfinished, co_await outside_.journal.Unfinished());
  if (!unfinished.empty()) {
    Diagnose(DiagnosticLevel::kInfo, "taking over " + std::to_string(unfinished.size()) + " unfinished jobs");
  }
  for (v1::JobRecord& job : unfinished) {
    std::string job_id = job.job().job_id();
    Result<std::int64_t> taken = co_await TakeOver(std::move(job));
    if (!taken)
      co_return std::unexpected(
          Error{taken.error().code, "job " + job_id + ": " + taken.error().message, ""});
  }
  co_return Status{};
}

/// The service's lines are derived from the events, so the ones that a crash kept from the log can be said
/// now.
boost::asio::awaitable<Result<std::int64_t>> JobService::TakeOver(v1::JobRecord job) {
  TY_CO_TRY(std::vector<v1::Event> events, co_await outside_.journal.Events(job.uid(), 0));
  if (!events.empty() && events.front().has_created()) {
    // The store keeps the record of a new job once; its uid is known only after the first commit.
    events.front().mutable_created()->mutable_record()->set_uid(job.uid());
  }
  TY_CO_TRY(std::vector<jobs::ServiceLine> said, SaidSoFar(events));
  TY_CO_TRY(std::int64_t stored, co_await outside_.logs.NextLine(job.uid(), ServiceSource(job).source));
  auto known = std::min(stored, static_cast<std::int64_t>(said.size()));
  JobRunner& runner = Add(std::move(job), known);
  runner.SayAgain({said.begin() + known, said.end()});
  std::int64_t uid = runner.job().uid();
  runner.Start(false, [this, uid] { tasks_.Spawn(Forget(uid)); });
  co_return uid;
}

JobRunner& JobService::Add(v1::JobRecord job, std::int64_t service_lines) {
  std::int64_t uid = job.uid();
  auto [added, is_new] =
      runners_.emplace(uid, std::make_unique<JobRunner>(outside_, std::move(job), service_lines));
  return *added->second;
}

boost::asio::awaitable<Result<Job>> JobService::Create(std::string project, Job job) {
  TY_CO_TRY(v1::JobRecord record, co_await maker_.Make(std::move(project), std::move(job)));
  v1::Event created;
  *created.mutable_created()->mutable_record() = record;
  created = Stamped(std::move(created), 1, wire::FromProto(record.job().create_time()));
  TY_CO_TRY(record, jobs::Apply(v1::JobRecord{}, created));
  TY_CO_TRY(std::int64_t uid, co_await outside_.journal.Create(record, created));
  record.set_uid(uid);
  Job answer = Present(record);
  std::vector<jobs::ServiceLine> lines = jobs::LinesFor(record, created);
  JobRunner& runner = Add(std::move(record), 0);
  runner.SayAgain(std::move(lines));
  runner.Start(true, [this, uid] { tasks_.Spawn(Forget(uid)); });
  co_return answer;
}

boost::asio::awaitable<void> JobService::Forget(std::int64_t uid) {
  auto runner = runners_.extract(uid);  // from here on the job has no other writer than the API
  co_await runner.mapped()->Finish();
}

boost::asio::awaitable<Result<Job>> JobService::Get(wire::JobName name) {
  Result<v1::JobRecord> record = co_await outside_.journal.Get(name.project, name.job_id);
  if (!record && record.error().code == Code::kNotFound) {
    co_return std::unexpected(Error{Code::kNotFound, std::string(kNoSuchJob), "name"});
  }
  if (!record) co_return std::unexpected(record.error());
  co_return Present(*record);
}

/// A filtered page may be short, even empty, and still have a next one: what is looked at in one call is
/// bounded.
boost::asio::awaitable<Result<ml::v1::ListJobsResponse>> JobService::List(ListQuery query) {
  if (query.page_size < 0)
    co_return std::unexpected(InvalidArgument("page_size", "The page size must not be negative"));
  TY_CO_TRY(wire::Filter filter, wire::ParseFilter(query.filter));
  TY_CO_RETURN_IF_ERROR(wire::CheckFilter(filter, *Job::descriptor()));
  int page_size = query.page_size == 0 ? kPageSizeDefault : std::min(query.page_size, kPageSizeMax);
  ml::v1::ListJobsResponse response;
  response.set_next_page_token(query.page_token);
  int looked_at = 0;
  do {
    int room = page_size - response.jobs_size();
    TY_CO_TRY(store::JobPage page,
              co_await outside_.journal.List(query.project, room, response.next_page_token()));
    for (const v1::JobRecord& record : page.jobs) {
      Job job = Present(record);
      if (wire::Matches(filter, job)) *response.add_jobs() = std::move(job);
    }
    looked_at += room;
    response.set_next_page_token(page.next_page_token);
  } while (response.jobs_size() < page_size && !response.next_page_token().empty() &&
           looked_at < kFilteredJobsMax);
  co_return response;
}

boost::asio::awaitable<Result<Job>> JobService::Patch(wire::JobName name, Job patch,
                                                      std::string update_mask) {
  TY_CO_TRY(bool with_etag, WantsEtag(update_mask));
  TY_CO_RETURN_IF_ERROR(maker_.CheckLabels(patch));
  Result<v1::JobRecord> record = co_await outside_.journal.Get(name.project, name.job_id);
  if (!record) co_return std::unexpected(Error{Code::kNotFound, std::string(kNoSuchJob), "name"});
  if (with_etag && patch.etag() != Present(*record).etag()) {
    co_return std::unexpected(
        Error{Code::kAborted, "The etag is not that of the job: read it again", "job.etag"});
  }
  v1::Event event;
  *event.mutable_patched()->mutable_labels() = patch.labels();
  TY_CO_RETURN_IF_ERROR(co_await Post(*std::move(record), std::move(event)));
  co_return co_await Get(std::move(name));
}

boost::asio::awaitable<Status> JobService::Cancel(wire::JobName name) {
  Result<v1::JobRecord> record = co_await outside_.journal.Get(name.project, name.job_id);
  if (!record) co_return std::unexpected(Error{Code::kNotFound, std::string(kNoSuchJob), "name"});
  if (record->job().state() == Job::CANCELLING || record->job().has_end_time()) co_return Status{};
  v1::Event event;
  event.mutable_cancel_requested()->set_reason("Cancelled by the user.");
  co_return co_await Post(*std::move(record), std::move(event));
}

/// Through the job's runner while it has one; an ended job has no other writer.
boost::asio::awaitable<Status> JobService::Post(v1::JobRecord job, v1::Event event) {
  auto runner = runners_.find(job.uid());
  if (runner != runners_.end()) co_return co_await runner->second->Post(std::move(event));
  v1::Event stamped = Stamped(std::move(event), job.revision() + 1, outside_.clock.Now());
  TY_CO_TRY(v1::JobRecord after, jobs::Apply(job, stamped));
  co_return co_await outside_.journal.Append(std::move(after), std::move(stamped));
}

Status JobService::OnHello(std::shared_ptr<engine::ReplicaLink> link,
                           const engine::FromReplica::Hello& hello) {
  if (hello.token() != AttemptToken(outside_.settings, hello.attempt_id())) {
    return std::unexpected(
        Error{Code::kUnauthenticated, "the token is not that of attempt " + hello.attempt_id(), ""});
  }
  Attempt attempt = FindAttempt(hello.attempt_id());
  if (attempt.runner != nullptr) {
    attempt.runner->OnHello(std::move(link), attempt.replica, attempt.number, hello.phase());
  } else {  // its job has ended, so its exit and its lines are stored
    engine::ToReplica frame;
    frame.mutable_dismiss();
    link->Send(std::move(frame));
  }
  return {};
}

boost::asio::awaitable<void> JobService::OnFrame(std::shared_ptr<engine::ReplicaLink> link,
                                                 std::string attempt_id, engine::FromReplica frame) {
  Attempt attempt = FindAttempt(attempt_id);
  if (attempt.runner == nullptr) co_return;
  co_await attempt.runner->OnFrame(std::move(link), attempt.replica, attempt.number, std::move(frame));
}

void JobService::OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) {
  Attempt attempt = FindAttempt(attempt_id);
  if (attempt.runner != nullptr) attempt.runner->OnClosed(link, attempt.replica);
}

void JobService::OnGone(const std::string& attempt_id) {
  Attempt attempt = FindAttempt(attempt_id);
  if (attempt.runner != nullptr) attempt.runner->OnGone(attempt.replica, attempt.number);
}

JobService::Attempt JobService::FindAttempt(std::string_view attempt_id) const {
  std::size_t first = attempt_id.find('-');
  std::size_t last = attempt_id.rfind('-');
  if (first == std::string_view::npos || last <= first) return {};
  std::int64_t uid = 0;
  Attempt attempt;
  if (!ParseNumber(attempt_id.substr(0, first), uid) ||
      !ParseNumber(attempt_id.substr(last + 1), attempt.number))
    return {};
  auto runner = runners_.find(uid);
  if (runner == runners_.end()) return {};
  attempt.replica = runner->second->FindReplica(std::string(attempt_id.substr(first + 1, last - first - 1)));
  if (attempt.replica >= 0) attempt.runner = runner->second.get();
  return attempt;
}

/// The job as the API shows it: with its place in the queue, and the revision as etag.
Job JobService::Present(const v1::JobRecord& record) const {
  Job job = record.job();
  if (std::optional<placement::Plan::Wait> wait = outside_.admissions.WaitOf(record.uid()))
    job.set_job_position(wait->position);
  job.set_etag(std::to_string(record.revision()));
  return job;
}

}  // namespace trainyard::control
