#include "engine/slurm/slurm_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "rules/slurm/job_list.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using slurm::GangKey;
using slurm::Submission;

/// Slurm's time limit is this much later than the job's own, so that the server ends the job first, with its
/// own message.
constexpr std::chrono::minutes kTimeMargin{5};

}  // namespace

Result<std::unique_ptr<SlurmEngine>> SlurmEngine::Open(asio::any_io_executor loop,
                                                       const std::string& database, Options options,
                                                       RemoteAttemptHost& host) {
  TY_TRY(std::unique_ptr<AgentSlots> slots, AgentSlots::Open(loop, database));
  return std::unique_ptr<SlurmEngine>(
      new SlurmEngine(std::move(loop), std::move(options), host, std::move(slots)));
}

SlurmEngine::SlurmEngine(asio::any_io_executor loop, Options options, RemoteAttemptHost& host,
                         std::unique_ptr<AgentSlots> slots)
    : ClusterEngine({.loop = loop,
                     .clock = options.clock,
                     .host = host,
                     .slots = std::move(slots),
                     .rules = gangs_,
                     .agent_mark = {}}),
      options_(std::move(options)),
      gangs_(installation()),
      nodes_(*options_.client, options_.clock, std::exchange(options_.nodes, {})),
      claims_(loop, *options_.client, nodes_, installation()),
      cancels_(loop, asking_, *options_.client),
      tasks_(std::move(loop)) {}

asio::awaitable<void> SlurmEngine::Act() { return DoAll(*this, gangs_.Next(Now())); }

bool SlurmEngine::OffersAccelerator(const std::string& region, ml::v1::AcceleratorConfig::Type type) {
  return slurm::HasAccelerator(Gpus(), options_.settings, region, type);
}

// --- reservations

void SlurmEngine::WantFormer(const SubmissionRecord& submitted) {
  gangs_.Want({.key = submitted.submission.gang,
               .slots = static_cast<int>(submitted.replicas.size()),
               .last_submission = submitted.submission.number,
               .may_have_run = true},
              Now());
}

void SlurmEngine::Want(const ReservationRequest& request, const SubmissionRecord* known) {
  slurm::Gangs::GangRequest wanted{.key = KeyOf(request.key),
                                   .slots = static_cast<int>(request.gang.replicas.size()),
                                   .partition = options_.settings.options.partition,
                                   .granted = request.granted.has_value()};
  if (request.granted) wanted.last_submission = NumberOf(*request.granted);
  if (known != nullptr) {
    wanted.last_submission = known->submission.number;
    for (const auto& [slot, holder] : known->holders) wanted.attached.emplace(slot, holder.node.name());
    wanted.cancelled.assign(known->cancelled.begin(), known->cancelled.end());
  }
  gangs_.Want(std::move(wanted), Now());
}

std::string SlurmEngine::WhyRefused(const GangKey& gang) const { return claims_.WhyRefused(gang); }

std::string SlurmEngine::ObjectOf(const GangKey& gang) const { return slurm::JobName(installation(), gang); }

std::string SlurmEngine::PlaceNote(const Submission& submission, const std::string& nodes) const {
  return "Slurm runs it as " + ObjectOf(submission.gang) + " on " + nodes + ".";
}

// --- requests to Slurm

const slurm::PartitionGpus& SlurmEngine::Gpus() {
  if (is_started() && nodes_.are_old()) tasks_.Spawn(nodes_.Look(asking_));
  return nodes_.gpus();
}

slurm::BatchJob SlurmEngine::BatchOf(const Submission& submission, const slurm::GangRequest& request,
                                     std::string ticket) {
  slurm::BatchJob batch{.installation = installation(), .submission = submission, .boot = options_.boot};
  batch.boot.ticket = std::move(ticket);
  const Reservation* const reservation = Find(submission.gang);
  if (reservation == nullptr) return batch;
  const placement::Gang& gang = reservation->request.gang;
  batch.nice = slurm::NiceOf(gang.priority, options_.settings.nice);
  if (gang.running_limit) {
    batch.times.limit = std::chrono::ceil<std::chrono::minutes>(*gang.running_limit) + kTimeMargin;
    if (request.time_max) batch.times.limit = std::min(*batch.times.limit, *request.time_max);
    if (gang.queue_deadline && *gang.queue_deadline < SysTime::max() - *batch.times.limit)
      batch.times.deadline = *gang.queue_deadline + *batch.times.limit;
  }
  return batch;
}

/// If the cancellation cannot be recorded now, it is requested again after the next list.
asio::awaitable<void> SlurmEngine::CancelSome(slurm::CancelJobs jobs) {
  const std::optional<Submission> named =
      slurm::ParseNames(installation(), jobs.name, slurm::Comment({.gang = {}, .number = 1}));
  // Without a reservation, too: the job may be wanted again, by the next server, which asks how it ended.
  if (named) {
    const Status noted = co_await slots().NoteCancels(named->gang, jobs.ids);
    if (!noted) {
      Diagnose(DiagnosticLevel::kWarning,
               NameOf(named->gang) + " is not cancelled in Slurm yet: " + noted.error().message);
      co_return;
    }
  }
  cancels_.Add(jobs);
}

asio::awaitable<void> SlurmEngine::SubmitOne(Submission submission) {
  const auto fail = [this, &submission](slurm::Failure failure, const std::string& words) {
    gangs_.OnNotSubmitted(submission, failure, words, Now());
    Wake();
  };
  co_await nodes_.Look(asking_);
  Reservation* reservation = Find(submission.gang);
  if (reservation == nullptr || !gangs_.IsCurrent(submission))
    co_return fail(slurm::Failure::kLater, "the job no longer needs it");
  slurm::GangRequest request = slurm::RequestOf(reservation->request.gang, options_.settings, nodes_.nodes());
  if (!request.lack.empty()) co_return fail(slurm::Failure::kNever, request.lack + " " + request.remedy);
  reservation->notes = request.notes;
  Result<std::string> ticket = co_await slots().Issue(submission, slurm::ReplicasOfSlots(request));
  if (!ticket) co_return fail(slurm::Failure::kLater, "it cannot be recorded: " + ticket.error().message);
  slurm::BatchJob batch = BatchOf(submission, request, *std::move(ticket));
  const int components = static_cast<int>(request.components.size());
  auto submit = [&client = *options_.client, batch = std::move(batch), request = std::move(request)] {
    return client.Submit(batch, request);
  };
  const SlurmAnswer<std::int64_t> id = co_await OnPool(asking_, std::move(submit));
  if (!id) co_return fail(id.error().failure, id.error().words);
  Diagnose(DiagnosticLevel::kInfo, NameOf(submission.gang) + " is job " + std::to_string(*id) + " of Slurm");
  claims_.OnSubmitted(submission, *id, components);
  gangs_.OnSubmitted(submission, *id, Now());
  Wake();
}

asio::awaitable<void> SlurmEngine::AskOne(slurm::AskList action) {
  const SysTime asked = Now();
  auto ask = [&client = *options_.client, id = action.id,
              installation = installation()]() -> SlurmAnswer<slurm::OurJobs> {
    SlurmAnswer<std::vector<slurm::ListedJob>> jobs = client.List(id);
    if (!jobs) return std::unexpected(std::move(jobs.error()));
    return slurm::OursOf(installation, *std::move(jobs));
  };
  SlurmAnswer<slurm::OurJobs> jobs = co_await OnPool(action.id ? asking_ : listing_, std::move(ask));
  const SysTime now = Now();
  if (jobs) {
    for (const slurm::CancelJobs& others : claims_.OnListed(!action.id, *jobs)) cancels_.Add(others);
    gangs_.OnListed(action.id, asked, *std::move(jobs), now);
  } else {
    gangs_.OnListFailed(action.id, jobs.error().words, now);
  }
  Wake();
}

// --- agents

asio::awaitable<Status> SlurmEngine::CheckPlace(Submission submission, int, std::string node,
                                                AgentOrigin origin) {
  auto is_current = [this, submission] { return gangs_.IsCurrent(submission); };
  return claims_.Check(submission, std::move(node), std::move(origin), std::move(is_current));
}

}  // namespace trainyard::engine
