#include "engine/local/local_engine.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

namespace trainyard::engine {

namespace {

constexpr std::chrono::seconds kPortPause{2};  ///< before all leasable ports are tried again
/// The pause between two looks at the order of projects while nothing else changes: the use of running jobs
/// grows.
constexpr std::chrono::seconds kOrderPause{60};
constexpr const char* kTurn = "turn";  ///< in place of a reason that changes with every admission
/// The port on which every replica with an isolated network listens, as in the original.
constexpr int kIsolatedPort = 2222;

/// Lines of the queue (placement::Gang::line).
enum Line { kNoAccelerators, kGpus, kTpus, kUnservable };

/// 10.77.1.1 to 10.77.250.250. Every job uses the same addresses, since no job's switch is connected to
/// anything else.
std::string IsolatedAddress(int replica) {
  constexpr int kPerNetwork = 250;
  return "10.77." + std::to_string(1 + replica / kPerNetwork) + "." +
         std::to_string(1 + replica % kPerNetwork);
}

/// The pool's name for the job as a holder of devices.
std::string HolderOf(std::int64_t uid) { return std::to_string(uid); }

double CpusOf(const placement::Gang& gang) {
  double cpus = 0;
  for (const placement::Gang::Replica& replica : gang.replicas) cpus += replica.cpus;
  return cpus;
}

/// The number of GPUs and TPU boards.
double DevicesOf(const Grant& grant) {
  int devices = 0;
  for (const Slot& slot : grant.slots())
    devices += slot.devices().gpus_size() + (slot.devices().tpu_node_name().empty() ? 0 : 1);
  return devices;
}

std::vector<int> PortsOf(const Grant& grant) {
  std::vector<int> ports;
  for (const Slot& slot : grant.slots()) {
    if (slot.network() != replica::v1::Manifest::ISOLATED) ports.push_back(slot.port());
  }
  return ports;
}

}  // namespace

LocalEngine::LocalEngine(boost::asio::any_io_executor loop, Options options)
    : loop_(std::move(loop)),
      capacity_(options.capacity),
      network_(options.network),
      ports_(std::move(options.probe), options.lease_spread),
      devices_(std::move(options.devices)),
      shares_(std::move(options.shares), {.accelerators = static_cast<double>(devices_.devices().size()),
                                          .cpus = static_cast<double>(capacity_.cpus)}) {}

std::variant<Grant, Pending> LocalEngine::Offer(ReservationRequest request) {
  const std::int64_t uid = request.key.job_uid;
  if (request.granted && !running_.contains(uid)) Restore(request);
  if (const auto running = running_.find(uid);
      running != running_.end() && running->second.grant.try_number() == request.key.try_number)
    return running->second.grant;
  Pending pending{kLookingForRoom};
  if (const auto waiting = waiting_.find(uid); waiting != waiting_.end()) {
    waiting->second.key = request.key;
    return pending;
  }
  waiting_.emplace(uid, Waiting{.key = request.key});
  queue_.Add(LinedUp(std::move(request.gang)));
  newcomers_.push_back(uid);
  PlanSoon();
  return pending;
}

void LocalEngine::Restore(const ReservationRequest& request) {
  const std::int64_t uid = request.key.job_uid;
  for (const int port : PortsOf(*request.granted)) ports_.Restore(port);
  for (const Slot& slot : request.granted->slots())
    devices_.Take(HolderOf(uid), placement::LabelOf(request.gang), {slot.devices()});
  StartUse(request.gang, *request.granted);
  running_.emplace(uid, Running{request.gang, *request.granted});
}

/// Sets the gang's line: gangs that want the same kind of accelerator form one line, and are told how many of
/// them are ahead. A gang that can never be served here does not block the queue.
placement::Gang LocalEngine::LinedUp(placement::Gang gang) const {
  const std::set<std::size_t> wanted = devices_.Wanted(gang);
  if (devices_.LackOf(gang)) {
    gang.line = kUnservable;
  } else if (wanted.empty()) {
    gang.line = kNoAccelerators;
  } else {
    gang.line = devices_.devices()[*wanted.begin()].kind == placement::Device::Kind::kGpu ? kGpus : kTpus;
  }
  gang.share =
      shares_.ShareOf({.accelerators = static_cast<double>(devices_.CountOf(gang)), .cpus = CpusOf(gang)});
  return gang;
}

void LocalEngine::Return(ReservationKey key) {
  waiting_.erase(key.job_uid);
  queue_.Take(key.job_uid);
  if (auto running = running_.extract(key.job_uid)) {
    ports_.Release(PortsOf(running.mapped().grant));
    shares_.Stop(key.job_uid);
  }
  PlanSoon();
}

void LocalEngine::Prove(ReservationKey key) { ProveOrphan(HolderOf(key.job_uid)); }

void LocalEngine::HoldForOrphan(const std::string& attempt_id, const std::string& job_id,
                                const replica::v1::Devices& devices) {
  devices_.Take(attempt_id, {.job_id = job_id}, {devices});
}

void LocalEngine::ProveOrphan(const std::string& attempt_id) {
  devices_.Free(attempt_id);
  PlanSoon();
}

std::optional<placement::Wait> LocalEngine::WaitOf(ReservationKey key) const {
  const placement::Gang* gang = queue_.Find(key.job_uid);
  if (gang == nullptr || !waiting_.at(key.job_uid).planned) return std::nullopt;
  placement::Wait wait{.position = queue_.PositionOf(*gang), .reason = {}, .unblock = {}};
  if (auto blocked = blocked_.find(key.job_uid); blocked != blocked_.end()) {
    wait.reason = blocked->second.reason;
    wait.unblock = blocked->second.unblock;
  } else if (auto lack = devices_.LackOf(*gang)) {
    wait.reason = lack->reason;
    wait.unblock = lack->unblock;
  } else if (auto refusal = gate_.Check(*gang, devices_.DemandOf(*gang))) {
    wait.reason = std::move(refusal->shortage.reason);
    wait.unblock = std::move(refusal->shortage.unblock);
  } else {
    wait = queue_.TurnOf(*gang, shares_.naming().Job(blocker_, gang->project), shares_.naming());
    const bool is_next = wait.position == 1;
    if (!is_next || !blocker_.job_id.empty())
      shares_.Explain(*gang, is_next ? blocker_.project : queue_.FirstOf(*gang).project, queue_, wait);
  }
  return wait;
}

void LocalEngine::PlanSoon() {
  if (planning_ || waiting_.empty()) return;
  planning_ = true;
  boost::asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) PlanNow();
  });
}

void LocalEngine::PlanNow() {
  planning_ = false;
  std::vector<placement::Gang> running;
  for (const auto& [uid, one] : running_) running.push_back(one.gang);
  shares_.Rank(queue_);
  placement::Plan plan = placement::PlanAdmissions(capacity_, running, queue_.Walk(), devices_,
                                                   {.quotas = Gate(), .naming = shares_.naming()});
  std::set<std::int64_t> previously_blocked;
  for (const auto& [uid, shortage] : std::exchange(blocked_, {})) previously_blocked.insert(uid);
  blocker_ = {};
  for (placement::Plan::Blocked& blocked : plan.blocked) {
    if (blocked.blocks_all) blocker_ = placement::LabelOf(*queue_.Find(blocked.uid));
    blocked_.emplace(blocked.uid, std::move(blocked.shortage));
  }
  for (placement::Plan::Admission& admitted : plan.admitted) {
    const std::int64_t uid = admitted.uid;
    std::optional<Grant> grant = MakeGrant(*queue_.Find(uid), std::move(admitted));
    if (!grant) {
      WaitForPorts(uid);
      break;
    }
    placement::Gang gang = *queue_.Take(uid);
    for (const Slot& slot : grant->slots())
      devices_.Take(HolderOf(uid), placement::LabelOf(gang), {slot.devices()});
    gang.start_time = shares_.Now();
    StartUse(gang, *grant);
    auto taken = waiting_.extract(uid);
    grant->set_try_number(taken.mapped().key.try_number);
    running_.emplace(uid, Running{std::move(gang), *grant});
    if (events_.on_grant) events_.on_grant(taken.mapped().key, *std::move(grant));
  }
  shares_.Rank(queue_);  // admitted gangs count now
  gate_ = Gate();
  TellWaiting(previously_blocked);
  WatchTheOrder();
}

/// Reports changed waits. In a long queue it considers only jobs for which something may have changed.
void LocalEngine::TellWaiting(const std::set<std::int64_t>& previously_blocked) {
  std::set<std::int64_t> concerned = previously_blocked;
  for (const auto& [uid, shortage] : blocked_) concerned.insert(uid);
  for (std::int64_t uid : std::exchange(newcomers_, {})) concerned.insert(uid);
  for (std::int64_t uid : concerned) {
    auto waiting = waiting_.find(uid);
    if (waiting != waiting_.end()) TellWait(waiting->second);
  }
}

void LocalEngine::TellWait(Waiting& waiting) {
  waiting.planned = true;
  const std::optional<placement::Wait> wait = WaitOf(waiting.key);
  if (!wait) return;
  std::string reason = wait->is_turn ? kTurn : wait->reason;
  if (std::exchange(waiting.said, reason) == reason || !events_.on_wait) return;
  events_.on_wait(ReservationKey(waiting.key));
}

/// The first job could start but for a port. Other programs release ports without our knowledge, so it tries
/// again later.
void LocalEngine::WaitForPorts(std::int64_t uid) {
  blocker_ = placement::LabelOf(*queue_.Find(uid));
  blocked_[uid] = {"Waiting for a free port: there is no free port between " +
                       std::to_string(placement::kLeasePortFirst) + " and " +
                       std::to_string(placement::kLeasePortLast) + ".",
                   "It starts when another job or program releases one."};
  if (std::exchange(waiting_for_ports_, true)) return;
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kPortPause);
  timer->async_wait([this, timer, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    waiting_for_ports_ = false;
    PlanSoon();
  });
}

/// Makes the grant; empty: all ports are taken.
std::optional<Grant> LocalEngine::MakeGrant(const placement::Gang& gang,
                                            placement::Plan::Admission admission) {
  Grant grant;
  for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
    Slot& slot = *grant.add_slots();
    if (!GiveAddress(gang.uid, static_cast<int>(i), slot)) {
      grant.mutable_slots()->RemoveLast();
      ports_.Release(PortsOf(grant));
      return std::nullopt;
    }
    if (!admission.devices.empty()) *slot.mutable_devices() = std::move(admission.devices[i]);
  }
  for (std::string& note : admission.notes) grant.add_notes(std::move(note));
  return grant;
}

/// Gives the slot an address; false: all ports are taken.
bool LocalEngine::GiveAddress(std::int64_t uid, int replica, Slot& slot) {
  slot.set_network(network_);
  if (network_ == Manifest::ISOLATED) {
    slot.set_address(IsolatedAddress(replica));
    slot.set_port(kIsolatedPort);
    return true;
  }
  const std::optional<int> port = ports_.Lease();
  if (!port) return false;
  slot.set_address(placement::ReplicaAddress(uid, replica));
  slot.set_port(*port);
  return true;
}

/// The order of projects changes with time, so free resources may become another job's turn although no job
/// comes or goes.
void LocalEngine::WatchTheOrder() {
  if (watching_order_ || !shares_.has_clock() || queue_.project_count() < 2) return;
  watching_order_ = true;
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kOrderPause);
  timer->async_wait([this, timer, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    watching_order_ = false;
    PlanSoon();
  });
}

void LocalEngine::StartUse(const placement::Gang& gang, const Grant& grant) {
  shares_.Start(gang, {.accelerators = DevicesOf(grant), .cpus = CpusOf(gang)});
}

std::vector<placement::DevicePool::Change> LocalEngine::ObserveDevices(
    std::span<const placement::DeviceSigns> seen) {
  std::vector<placement::DevicePool::Change> changes = devices_.Observe(seen);
  if (changes.empty()) return changes;
  for (const auto& [uid, waiting] : waiting_) {
    if (std::optional<placement::Gang> gang = queue_.Take(uid)) queue_.Add(LinedUp(*std::move(gang)));
    newcomers_.push_back(uid);
  }
  PlanSoon();
  return changes;
}

LocalEngine::MachineUse LocalEngine::Occupancy() const {
  MachineUse use{.capacity = capacity_};
  for (const auto& [uid, one] : running_) {
    for (const placement::Gang::Replica& replica : one.gang.replicas) {
      use.cpus_held += replica.cpus;
      use.memory_bytes_held += replica.memory_bytes;
    }
  }
  for (std::size_t i = 0; i < devices_.devices().size(); ++i) {
    const placement::JobLabel* holder = devices_.HolderOf(i);
    use.devices.push_back({.device = devices_.devices()[i],
                           .holder = holder != nullptr ? std::optional(*holder) : std::nullopt,
                           .trouble = devices_.TroubleOf(i)});
  }
  return use;
}

}  // namespace trainyard::engine
