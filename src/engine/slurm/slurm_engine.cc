#include "engine/slurm/slurm_engine.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "rules/slurm/job_list.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using slurm::GangKey;
using slurm::Submission;

/// The most actions in one turn of the loop, so that other work also runs when thousands of jobs end at once.
constexpr std::size_t kActionsMax = 1'000;
/// Slurm's time limit is this much later than the job's own, so that the server ends the job first, with its
/// own message.
constexpr std::chrono::minutes kTimeMargin{5};

GangKey KeyOf(const ReservationKey& key) { return {.job_uid = key.job_uid, .try_number = key.try_number}; }
ReservationKey KeyOf(const GangKey& key) { return {.job_uid = key.job_uid, .try_number = key.try_number}; }

/// The number of the submission of a recorded grant; 0: the grant is not from Slurm.
int NumberOf(const Grant& grant) {
  if (grant.slots().empty()) return 0;
  const auto submission = slurm::SubmissionOfAgent(grant.slots(0).agent());
  return submission ? submission->number : 0;
}

Grant MakeGrant(const std::string& installation, const SubmissionRecord& submitted,
                const ReservationRequest& request, const std::vector<std::string>& notes) {
  const placement::Gang& gang = request.gang;
  Grant grant;
  grant.set_try_number(request.key.try_number);
  for (std::size_t i = 0; i < gang.replicas.size(); ++i) grant.add_slots();
  std::set<std::string> nodes;
  for (const auto& [number, holder] : submitted.holders) {
    const int replica = submitted.replicas.at(static_cast<std::size_t>(number));
    if (replica >= grant.slots_size()) continue;
    const placement::Gang::Replica& wanted = gang.replicas[static_cast<std::size_t>(replica)];
    Slot& slot = *grant.mutable_slots(replica);
    slot.set_node(holder.node.name());
    slot.set_network(replica::v1::Manifest::HOST);
    slot.set_address(holder.node.address());
    slot.set_port(holder.node.port());
    slot.set_agent(slurm::AgentName(submitted.submission, number));
    if (wanted.accelerator_count > 0) {
      slot.mutable_devices()->set_accelerator_type(ml::v1::AcceleratorConfig::Type_Name(wanted.accelerator));
      *slot.mutable_devices()->mutable_gpus() = holder.node.gpus();
    }
    nodes.insert(holder.node.name());
  }
  for (const std::string& note : notes) grant.add_notes(note);
  std::string places;
  for (const std::string& node : nodes) places += (places.empty() ? "" : ", ") + node;
  grant.add_notes("Slurm runs it as " + slurm::JobName(installation, submitted.submission.gang) + " on " +
                  places + ".");
  std::map<std::string, std::string> without_way_out;  // a line for each reason, not one for each node
  for (const auto& [number, holder] : submitted.holders) {
    if (!holder.node.isolation_lacking().empty())
      grant.add_notes("On " + holder.node.name() + ": " + holder.node.isolation_lacking());
    if (holder.node.way_out_lacking().empty()) continue;
    std::string& named = without_way_out[holder.node.way_out_lacking()];
    named += (named.empty() ? "" : ", ") + holder.node.name();
  }
  for (const auto& [reason, named] : without_way_out)
    grant.add_notes("Environments on " + named +
                    " are built through the server's connection to the internet (" + reason + ").");
  return grant;
}

}  // namespace

Result<std::unique_ptr<SlurmEngine>> SlurmEngine::Open(asio::any_io_executor loop,
                                                       const std::string& database, Options options,
                                                       RemoteAttemptHost& host) {
  TY_TRY(std::unique_ptr<SlurmSlots> slots, SlurmSlots::Open(loop, database));
  return std::unique_ptr<SlurmEngine>(
      new SlurmEngine(std::move(loop), std::move(options), host, std::move(slots)));
}

SlurmEngine::SlurmEngine(asio::any_io_executor loop, Options options, RemoteAttemptHost& host,
                         std::unique_ptr<SlurmSlots> slots)
    : loop_(loop),
      options_(std::move(options)),
      host_(host),
      slots_(std::move(slots)),
      gangs_(slots_->installation()),
      nodes_(*options_.client, options_.clock, std::exchange(options_.nodes, {})),
      claims_(loop, *options_.client, nodes_, slots_->installation()),
      wake_(loop),
      cancels_(loop, asking_, *options_.client),
      tasks_(std::move(loop)) {}

void SlurmEngine::Start() {
  const SysTime now = options_.clock.Now();
  for (const auto& [gang, submitted] : slots_->all()) {
    if (reservations_.contains(KeyOf(gang))) continue;
    gangs_.Want({.key = gang,
                 .slots = static_cast<int>(submitted.replicas.size()),
                 .last_submission = submitted.submission.number,
                 .may_have_run = true},
                now);
    gangs_.Release(gang, now);
  }
  started_ = true;
  tasks_.Spawn(Drive());
}

asio::awaitable<void> SlurmEngine::Drive() {
  for (;;) {
    wake_.Reset();
    const std::vector<slurm::GangAction> actions = gangs_.Next(options_.clock.Now());
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (i > 0 && i % kActionsMax == 0) co_await asio::post(loop_, asio::use_awaitable);
      std::visit([this](const auto& one) { Do(one); }, actions[i]);
    }
    const std::optional<SysTime> next = gangs_.WakeAt();
    if (next)
      co_await wake_.WaitFor(std::max(*next - options_.clock.Now(), SysTime::duration(0)));
    else
      co_await wake_.Wait();
  }
}

// --- reservations

std::variant<Grant, Pending> SlurmEngine::Offer(ReservationRequest request) {
  const ReservationKey key = request.key;
  const auto [place, is_new] = reservations_.try_emplace(key);
  Reservation& reservation = place->second;
  if (is_new) {
    if (!request.granted) waiting_.Add(key);
    reservation.grant = request.granted;
    reservation.request = std::move(request);
    Want(reservation.request);
    wake_.Set();
  }
  if (reservation.grant) return *reservation.grant;
  const std::optional<placement::Wait> wait = gangs_.WaitOf(KeyOf(key));
  return Pending{wait ? wait->reason : kLookingForRoom};
}

void SlurmEngine::Want(const ReservationRequest& request) {
  slurm::Gangs::GangRequest wanted{.key = KeyOf(request.key),
                                   .slots = static_cast<int>(request.gang.replicas.size()),
                                   .partition = options_.settings.options.partition,
                                   .granted = request.granted.has_value()};
  if (request.granted) wanted.last_submission = NumberOf(*request.granted);
  if (const SubmissionRecord* known = slots_->Find(wanted.key)) {
    wanted.last_submission = known->submission.number;
    for (const auto& [slot, holder] : known->holders) wanted.attached.emplace(slot, holder.node.name());
    wanted.cancelled.assign(known->cancelled.begin(), known->cancelled.end());
  }
  gangs_.Want(std::move(wanted), options_.clock.Now());
}

void SlurmEngine::Return(ReservationKey key) {
  if (reservations_.erase(key) == 0) return;
  waiting_.Remove(key);
  gangs_.Release(KeyOf(key), options_.clock.Now());
  wake_.Set();
}

std::optional<placement::Wait> SlurmEngine::WaitOf(ReservationKey key) const {
  const auto found = reservations_.find(key);
  if (found == reservations_.end() || found->second.grant) return std::nullopt;
  std::optional<placement::Wait> wait = gangs_.WaitOf(KeyOf(key));
  if (!wait) return wait;
  wait->position = waiting_.PositionOf(key);
  if (const std::string why = claims_.WhyRefused(KeyOf(key)); !why.empty()) wait->reason += " " + why;
  return wait;
}

bool SlurmEngine::Keeps(ReservationKey key) const { return slots_->Find(KeyOf(key)) != nullptr; }

SlurmEngine::Reservation* SlurmEngine::Find(const GangKey& key) {
  const auto found = reservations_.find(KeyOf(key));
  return found == reservations_.end() ? nullptr : &found->second;
}

void SlurmEngine::TellSoon(const ReservationKey& key, std::function<void(const EngineEvents&)> tell) {
  asio::post(loop_, [this, key, tell = std::move(tell), alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && reservations_.contains(key)) tell(events_);
  });
}

std::string SlurmEngine::NameOf(const GangKey& key) const {
  const auto found = reservations_.find(KeyOf(key));
  const std::string job = found == reservations_.end() ? "" : found->second.request.gang.job_id;
  return (job.empty() ? "" : "job " + job + ", ") + slurm::JobName(slots_->installation(), key);
}

// --- what Gangs decides

void SlurmEngine::Do(const slurm::Submit& action) { tasks_.Spawn(SubmitOne(action.submission)); }
void SlurmEngine::Do(const slurm::AskList& action) { tasks_.Spawn(AskOne(action)); }
void SlurmEngine::Do(const slurm::CancelJobs& action) { tasks_.Spawn(CancelSome(action)); }

void SlurmEngine::Do(const slurm::VoidTicket& action) {
  slots_->VoidTicket(action.submission);
  claims_.Forget(action.submission.gang);
  host_.Release(slurm::AgentPrefix(action.submission), "The job's resources were released.");
}

void SlurmEngine::Do(const slurm::GiveRoom& action) {
  Reservation* reservation = Find(action.submission.gang);
  const SubmissionRecord* submitted = slots_->Find(action.submission.gang);
  if (reservation == nullptr || submitted == nullptr) return;
  reservation->grant =
      MakeGrant(slots_->installation(), *submitted, reservation->request, reservation->notes);
  waiting_.Remove(reservation->request.key);
  Diagnose(DiagnosticLevel::kInfo, NameOf(action.submission.gang) + " has its resources");
  const ReservationKey key = reservation->request.key;
  TellSoon(key, [key, grant = *reservation->grant](const EngineEvents& events) {
    if (events.on_grant) events.on_grant(key, grant);
  });
}

void SlurmEngine::Do(const slurm::TakeBack& action) {
  Diagnose(DiagnosticLevel::kWarning, NameOf(action.gang) + ": " + action.reason);
  const ReservationKey key = KeyOf(action.gang);
  TellSoon(key, [key, revocation = Revocation{.kind = action.kind, .reason = action.reason}](
                    const EngineEvents& events) {
    if (events.on_lost) events.on_lost(key, revocation);
  });
}

void SlurmEngine::Do(const slurm::NothingLives& action) {
  host_.SetDead(slurm::AgentPrefix(action.submission));
}

void SlurmEngine::Do(const slurm::SayWait& action) {
  const ReservationKey key = KeyOf(action.gang);
  TellSoon(key, [key](const EngineEvents& events) {
    if (events.on_wait) events.on_wait(key);
  });
}

void SlurmEngine::Do(const slurm::Forget& action) {
  slots_->Drop(action.gang);
  claims_.Forget(action.gang);
}

// --- requests to Slurm

const slurm::PartitionGpus& SlurmEngine::Gpus() {
  if (started_ && nodes_.are_old()) tasks_.Spawn(nodes_.Look(asking_));
  return nodes_.gpus();
}

slurm::BatchJob SlurmEngine::BatchOf(const Submission& submission, const slurm::GangRequest& request,
                                     std::string ticket) const {
  slurm::BatchJob batch{
      .installation = slots_->installation(), .submission = submission, .boot = options_.boot};
  batch.boot.ticket = std::move(ticket);
  const auto found = reservations_.find(KeyOf(submission.gang));
  if (found == reservations_.end()) return batch;
  const placement::Gang& gang = found->second.request.gang;
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
      slurm::ParseNames(slots_->installation(), jobs.name, slurm::Comment({.gang = {}, .number = 1}));
  // Without a reservation, too: the job may be wanted again, by the next server, which asks how it ended.
  if (named) {
    const Status noted = co_await slots_->NoteCancels(named->gang, jobs.ids);
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
    gangs_.OnNotSubmitted(submission, failure, words, options_.clock.Now());
    wake_.Set();
  };
  co_await nodes_.Look(asking_);
  Reservation* reservation = Find(submission.gang);
  if (reservation == nullptr || !gangs_.IsCurrent(submission))
    co_return fail(slurm::Failure::kLater, "the job no longer needs it");
  slurm::GangRequest request = slurm::RequestOf(reservation->request.gang, options_.settings, nodes_.nodes());
  if (!request.lack.empty()) co_return fail(slurm::Failure::kNever, request.lack + " " + request.remedy);
  reservation->notes = request.notes;
  Result<std::string> ticket = co_await slots_->Issue(submission, slurm::ReplicasOfSlots(request));
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
  gangs_.OnSubmitted(submission, *id, options_.clock.Now());
  wake_.Set();
}

asio::awaitable<void> SlurmEngine::AskOne(slurm::AskList action) {
  const SysTime asked = options_.clock.Now();
  auto ask = [&client = *options_.client, id = action.id,
              installation = slots_->installation()]() -> SlurmAnswer<slurm::OurJobs> {
    SlurmAnswer<std::vector<slurm::ListedJob>> jobs = client.List(id);
    if (!jobs) return std::unexpected(std::move(jobs.error()));
    return slurm::OursOf(installation, *std::move(jobs));
  };
  SlurmAnswer<slurm::OurJobs> jobs = co_await OnPool(action.id ? asking_ : listing_, std::move(ask));
  const SysTime now = options_.clock.Now();
  if (jobs) {
    for (const slurm::CancelJobs& others : claims_.OnListed(!action.id, *jobs)) cancels_.Add(others);
    gangs_.OnListed(action.id, asked, *std::move(jobs), now);
  } else {
    gangs_.OnListFailed(action.id, jobs.error().words, now);
  }
  wake_.Set();
}

// --- agents

/// The agent that has the slot is recognised by its instance, which nobody else knows; an agent that requests
/// a free slot, by the node it connects from.
asio::awaitable<Result<std::string>> SlurmEngine::TakeSlot(agent::v1::FromAgent::Hello hello,
                                                           AgentOrigin origin) {
  if (!started_) co_return std::unexpected(Unavailable("the server is starting"));
  TY_CO_TRY(const SlurmSlots::SlotQuery asked, slots_->Look(hello));
  if (!asked.is_holder) {
    auto is_current = [this, submission = asked.slot.submission] { return gangs_.IsCurrent(submission); };
    TY_CO_RETURN_IF_ERROR(co_await claims_.Check(asked.slot.submission, hello.node().name(),
                                                 std::move(origin), std::move(is_current)));
  }
  TY_CO_TRY(const SlurmSlots::SlotClaim taken, co_await slots_->Take(std::move(hello)));
  if (gangs_.IsCurrent(taken.submission)) co_return slurm::AgentName(taken.submission, taken.slot);
  co_return std::unexpected(Error{Code::kPermissionDenied, "The job's resources were released.", {}});
}

namespace {

int SlotOf(const std::string& agent) { return std::stoi(agent.substr(agent.find('/') + 1)); }

}  // namespace

void SlurmEngine::OnAttached(const std::string& agent) {
  if (const auto submission = slurm::SubmissionOfAgent(agent)) {
    const SubmissionRecord* known = slots_->Find(submission->gang);
    const int slot = SlotOf(agent);
    if (known != nullptr && known->holders.contains(slot))
      gangs_.OnAttached(*submission, slot, known->holders.at(slot).node.name(), options_.clock.Now());
  }
  wake_.Set();
}

void SlurmEngine::OnDetached(const std::string& agent, mux::Ending ending) {
  if (const auto submission = slurm::SubmissionOfAgent(agent))
    gangs_.OnDetached(*submission, SlotOf(agent), ending != mux::Ending::kSilent, options_.clock.Now());
  wake_.Set();
}

void SlurmEngine::OnTimeLimit(const std::string& agent) {
  if (const auto submission = slurm::SubmissionOfAgent(agent)) gangs_.OnTimeLimit(*submission);
}

bool SlurmEngine::MayLive(const std::string& agent) const {
  const auto submission = slurm::SubmissionOfAgent(agent);
  if (!submission) return false;
  if (started_) return gangs_.MayLive(*submission);
  const SubmissionRecord* known = slots_->Find(submission->gang);
  return known != nullptr && known->submission == *submission;
}

}  // namespace trainyard::engine
