#include "engine/remote/cluster_engine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/async/diagnostics.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using placement::GangKey;

ReservationKey KeyOf(const GangKey& key) { return {.job_uid = key.job_uid, .try_number = key.try_number}; }

/// Notes about what nodes lack; a lacking way out has one line for each reason, not one for each node.
void AddLacks(const SubmissionRecord& submitted, Grant& grant) {
  std::map<std::string, std::string> without_way_out;
  for (const auto& [number, holder] : submitted.holders) {
    const agent::v1::Node& node = holder.node;
    if (!node.isolation_lacking().empty())
      grant.add_notes("On " + node.name() + ": " + node.isolation_lacking());
    if (node.way_out_lacking().empty()) continue;
    std::string& named = without_way_out[node.way_out_lacking()];
    named += (named.empty() ? "" : ", ") + node.name();
  }
  for (const auto& [reason, named] : without_way_out)
    grant.add_notes("Environments on " + named +
                    " are built through the server's connection to the internet (" + reason + ").");
}

}  // namespace

ClusterEngine::ClusterEngine(Parts parts)
    : loop_(parts.loop),
      clock_(parts.clock),
      host_(parts.host),
      slots_(std::move(parts.slots)),
      rules_(parts.rules),
      agent_mark_(parts.agent_mark),
      wake_(std::move(parts.loop)) {}

void ClusterEngine::Start() {
  const SysTime now = Now();
  for (const auto& [gang, submitted] : slots_->all()) {
    if (reservations_.contains(KeyOf(gang))) continue;
    WantFormer(submitted);
    rules_.Release(gang, now);
  }
  started_ = true;
  Begin();
  tasks().Spawn(Drive());
}

asio::awaitable<void> ClusterEngine::Drive() {
  for (;;) {
    wake_.Reset();
    co_await Act();
    const std::optional<SysTime> next = rules_.WakeAt();
    if (next)
      co_await wake_.WaitFor(std::max(*next - Now(), SysTime::duration(0)));
    else
      co_await wake_.Wait();
  }
}

// --- reservations

int ClusterEngine::NumberOf(const Grant& grant) {
  if (grant.slots().empty()) return 0;
  const auto submission = placement::SubmissionOfAgent(grant.slots(0).agent());
  return submission ? submission->number : 0;
}

std::variant<Grant, Pending> ClusterEngine::Offer(ReservationRequest request) {
  const ReservationKey key = request.key;
  const auto [place, is_new] = reservations_.try_emplace(key);
  Reservation& reservation = place->second;
  if (is_new) {
    if (!request.granted) waiting_.Add(key);
    reservation.grant = request.granted;
    reservation.request = std::move(request);
    Want(reservation.request, slots_->Find(KeyOf(key)));
    wake_.Set();
  }
  if (reservation.grant) return *reservation.grant;
  const std::optional<placement::Wait> wait = rules_.WaitOf(KeyOf(key));
  return Pending{wait ? wait->reason : kLookingForRoom};
}

void ClusterEngine::Return(ReservationKey key) {
  if (reservations_.erase(key) == 0) return;
  waiting_.Remove(key);
  rules_.Release(KeyOf(key), Now());
  wake_.Set();
}

std::optional<placement::Wait> ClusterEngine::WaitOf(ReservationKey key) const {
  const auto found = reservations_.find(key);
  if (found == reservations_.end() || found->second.grant) return std::nullopt;
  std::optional<placement::Wait> wait = rules_.WaitOf(KeyOf(key));
  if (!wait) return wait;
  wait->position = waiting_.PositionOf(key);
  if (const std::string why = WhyRefused(KeyOf(key)); !why.empty()) wait->reason += " " + why;
  return wait;
}

bool ClusterEngine::Keeps(ReservationKey key) const { return slots_->Find(KeyOf(key)) != nullptr; }

ClusterEngine::Reservation* ClusterEngine::Find(const GangKey& key) {
  const auto found = reservations_.find(KeyOf(key));
  return found == reservations_.end() ? nullptr : &found->second;
}

void ClusterEngine::TellSoon(const ReservationKey& key, std::function<void(const EngineEvents&)> tell) {
  asio::post(loop_, [this, key, tell = std::move(tell), alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && reservations_.contains(key)) tell(events_);
  });
}

std::string ClusterEngine::NameOf(const GangKey& key) const {
  const auto found = reservations_.find(KeyOf(key));
  const std::string job = found == reservations_.end() ? "" : found->second.request.gang.job_id;
  return (job.empty() ? "" : "job " + job + ", ") + ObjectOf(key);
}

// --- what the rules decide

void ClusterEngine::Do(const placement::VoidTicket& action) {
  slots_->VoidTicket(action.submission);
  Drop(action.submission.gang);
  host_.Release(placement::AgentPrefix(action.submission), "The job's resources were released.");
}

Grant ClusterEngine::MakeGrant(const SubmissionRecord& submitted, const Reservation& reservation) const {
  const placement::Gang& gang = reservation.request.gang;
  Grant grant;
  grant.set_try_number(reservation.request.key.try_number);
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
    slot.set_agent(placement::AgentName(submitted.submission, number, agent_mark_));
    if (wanted.accelerator_count > 0) {
      slot.mutable_devices()->set_accelerator_type(ml::v1::AcceleratorConfig::Type_Name(wanted.accelerator));
      *slot.mutable_devices()->mutable_gpus() = holder.node.gpus();
    }
    nodes.insert(holder.node.name());
  }
  for (const std::string& note : reservation.notes) grant.add_notes(note);
  std::string places;
  for (const std::string& node : nodes) places += (places.empty() ? "" : ", ") + node;
  grant.add_notes(PlaceNote(submitted.submission, places));
  AddLacks(submitted, grant);
  return grant;
}

void ClusterEngine::Do(const placement::GiveRoom& action) {
  Reservation* reservation = Find(action.submission.gang);
  const SubmissionRecord* submitted = slots_->Find(action.submission.gang);
  if (reservation == nullptr || submitted == nullptr) return;
  reservation->grant = MakeGrant(*submitted, *reservation);
  waiting_.Remove(reservation->request.key);
  Diagnose(DiagnosticLevel::kInfo, NameOf(action.submission.gang) + " has its resources");
  const ReservationKey key = reservation->request.key;
  TellSoon(key, [key, grant = *reservation->grant](const EngineEvents& events) {
    if (events.on_grant) events.on_grant(key, grant);
  });
}

void ClusterEngine::Do(const placement::TakeBack& action) {
  Diagnose(DiagnosticLevel::kWarning, NameOf(action.gang) + ": " + action.reason);
  const ReservationKey key = KeyOf(action.gang);
  TellSoon(key, [key, revocation = Revocation{.kind = action.kind, .reason = action.reason}](
                    const EngineEvents& events) {
    if (events.on_lost) events.on_lost(key, revocation);
  });
}

void ClusterEngine::Do(const placement::NothingLives& action) {
  host_.SetDead(placement::AgentPrefix(action.submission));
}

void ClusterEngine::Do(const placement::SayWait& action) {
  const ReservationKey key = KeyOf(action.gang);
  TellSoon(key, [key](const EngineEvents& events) {
    if (events.on_wait) events.on_wait(key);
  });
}

void ClusterEngine::Do(const placement::Forget& action) {
  slots_->Drop(action.gang);
  Drop(action.gang);
}

// --- agents

/// The agent that has the slot is recognised by its instance, which nobody else knows; an agent that requests
/// a free slot, by the node on which the cluster runs it.
asio::awaitable<Result<std::string>> ClusterEngine::TakeSlot(agent::v1::FromAgent::Hello hello,
                                                             AgentOrigin origin) {
  if (!started_) co_return std::unexpected(Unavailable("the server is starting"));
  TY_CO_TRY(const AgentSlots::SlotQuery asked, slots_->Look(hello));
  if (!asked.is_holder)
    TY_CO_RETURN_IF_ERROR(
        co_await CheckPlace(asked.slot.submission, asked.slot.slot, hello.node().name(), std::move(origin)));
  TY_CO_TRY(const AgentSlots::SlotClaim taken, co_await slots_->Take(std::move(hello)));
  if (rules_.IsCurrent(taken.submission))
    co_return placement::AgentName(taken.submission, taken.slot, agent_mark_);
  co_return std::unexpected(Error{Code::kPermissionDenied, "The job's resources were released.", {}});
}

void ClusterEngine::OnAttached(const std::string& agent) {
  if (const auto submission = placement::SubmissionOfAgent(agent)) {
    const SubmissionRecord* known = slots_->Find(submission->gang);
    const int slot = placement::SlotOfAgent(agent);
    if (known != nullptr && known->holders.contains(slot))
      rules_.OnAttached(*submission, slot, known->holders.at(slot).node.name(), Now());
  }
  wake_.Set();
}

void ClusterEngine::OnDetached(const std::string& agent, mux::Ending ending) {
  if (const auto submission = placement::SubmissionOfAgent(agent))
    rules_.OnDetached(*submission, placement::SlotOfAgent(agent), ending != mux::Ending::kSilent, Now());
  wake_.Set();
}

void ClusterEngine::OnTimeLimit(const std::string& agent) {
  if (const auto submission = placement::SubmissionOfAgent(agent)) rules_.OnTimeLimit(*submission);
}

void ClusterEngine::OnUnheard(const std::string& agent) {
  const auto submission = placement::SubmissionOfAgent(agent);
  if (!submission) return;
  const std::string reason = "The agent " + agent + " has not answered the request to end its program for " +
                             std::to_string(RemoteAttemptHost::kUnheardMax.count()) + " s.";
  Diagnose(DiagnosticLevel::kWarning, reason);
  rules_.OnUnheard(*submission, reason, Now());
  Wake();
}

bool ClusterEngine::MayLive(const std::string& agent) const {
  const auto submission = placement::SubmissionOfAgent(agent);
  if (!submission) return false;
  if (started_) return rules_.MayLive(*submission);
  const SubmissionRecord* known = slots_->Find(submission->gang);
  return known != nullptr && known->submission == *submission;
}

}  // namespace trainyard::engine
