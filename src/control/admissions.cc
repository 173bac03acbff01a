#include "control/admissions.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "cluster/task_name.h"
#include "cluster/tf_config.h"
#include "control/manifest.h"
#include "wire/time.h"

namespace trainyard::control {

namespace {

constexpr int kPortCount = placement::kLeasePortLast - placement::kLeasePortFirst + 1;

constexpr std::chrono::seconds kPortPause{2};  ///< before all leasable ports are tried again
constexpr const char* kTurn = "turn";          ///< in place of a reason that changes with every admission

/// Lines of the queue (placement::Gang::line).
enum Line { kNoAccelerators, kGpus, kTpus, kLacking };

/// 10.77.1.1 to 10.77.250.250. The same for every job: no job's switch leads anywhere else.
std::string IsolatedAddress(int replica) {
  constexpr int kPerNetwork = 250;
  return "10.77." + std::to_string(1 + replica / kPerNetwork) + "." +
         std::to_string(1 + replica % kPerNetwork);
}

}  // namespace

Admissions::Admissions(boost::asio::any_io_executor loop, placement::Capacity capacity, PortProbe probe,
                       replica::v1::Manifest::Network network, placement::DevicePool devices)
    : loop_(std::move(loop)),
      capacity_(capacity),
      probe_(std::move(probe)),
      network_(network),
      devices_(std::move(devices)) {}

void Admissions::Enqueue(const v1::JobRecord& job, OnAdmitted on_admitted, OnWait on_wait) {
  waiting_.emplace(
      job.uid(),
      Waiting{.job = job, .on_admitted = std::move(on_admitted), .on_wait = std::move(on_wait), .said = {}});
  queue_.Add(LinedUp(GangOf(job)));
  newcomers_.push_back(job.uid());
  PlanSoon();
}

/// Those that want the same kind of accelerator are told how many of them come first. Who can never have
/// its own stands in nobody's way.
placement::Gang Admissions::LinedUp(placement::Gang gang) const {
  const std::set<std::size_t> wanted = devices_.Wanted(gang);
  if (devices_.LackOf(gang)) {
    gang.line = kLacking;
  } else if (wanted.empty()) {
    gang.line = kNoAccelerators;
  } else {
    gang.line = devices_.devices()[*wanted.begin()].kind == placement::Device::Kind::kGpu ? kGpus : kTpus;
  }
  return gang;
}

void Admissions::Withdraw(std::int64_t uid) {
  waiting_.erase(uid);
  queue_.Take(uid);
}

void Admissions::Occupy(const v1::JobRecord& job) {
  bool admitted = job.replicas_size() > 0 && job.replicas(0).has_endpoint();
  if (!admitted) return;  // cancelled in the queue
  running_.emplace(job.uid(), GangOf(job));
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    ports_of_[job.uid()].push_back(replica.endpoint().port());
    leased_.insert(replica.endpoint().port());
    devices_.Take(JobHolder(job.uid()), job.job().job_id(), {replica.devices()});
  }
}

void Admissions::Leave(std::int64_t uid) {
  waiting_.erase(uid);
  queue_.Take(uid);
  running_.erase(uid);
  if (auto ports = ports_of_.extract(uid)) {
    for (int port : ports.mapped()) leased_.erase(port);
  }
  PlanSoon();
}

void Admissions::OccupyDevices(const std::string& holder, const std::string& job_id,
                               const replica::v1::Devices& devices) {
  devices_.Take(holder, job_id, {devices});
}

void Admissions::FreeDevices(const std::string& holder) {
  devices_.Free(holder);
  PlanSoon();
}

std::optional<placement::Wait> Admissions::WaitOf(std::int64_t uid) const {
  const placement::Gang* gang = queue_.Find(uid);
  if (gang == nullptr || !waiting_.at(uid).planned) return std::nullopt;
  placement::Wait wait{.position = queue_.PositionOf(*gang), .reason = {}, .unblock = {}};
  if (auto blocked = blocked_.find(uid); blocked != blocked_.end()) {
    wait.reason = blocked->second.reason;
    wait.unblock = blocked->second.unblock;
  } else if (auto lack = devices_.LackOf(*gang)) {
    wait.reason = lack->reason;
    wait.unblock = lack->unblock;
  } else {
    wait = queue_.TurnOf(*gang, blocker_);
  }
  return wait;
}

void Admissions::PlanSoon() {
  if (planning_ || waiting_.empty()) return;
  planning_ = true;
  boost::asio::post(loop_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) PlanNow();
  });
}

void Admissions::PlanNow() {
  planning_ = false;
  std::vector<placement::Gang> running;
  for (const auto& [uid, gang] : running_) running.push_back(gang);
  placement::Plan plan = placement::PlanAdmissions(capacity_, running, queue_.InOrder(), devices_);
  std::set<std::int64_t> formerly_blocked;
  for (const auto& [uid, shortage] : std::exchange(blocked_, {})) formerly_blocked.insert(uid);
  blocker_.clear();
  for (placement::Plan::Blocked& blocked : plan.blocked) {
    if (blocked.blocks_all) blocker_ = queue_.Find(blocked.uid)->job_id;
    blocked_.emplace(blocked.uid, std::move(blocked.shortage));
  }
  for (placement::Plan::Admission& admitted : plan.admitted) {
    std::optional<v1::Event::Admitted> admission =
        Admit(waiting_.at(admitted.uid).job, std::move(admitted.notes));
    if (!admission) {
      WaitForPorts(admitted.uid);
      break;
    }
    devices_.Take(JobHolder(admitted.uid), waiting_.at(admitted.uid).job.job().job_id(), admitted.devices);
    for (replica::v1::Devices& devices : admitted.devices) *admission->add_devices() = std::move(devices);
    auto taken = waiting_.extract(admitted.uid);
    running_.emplace(admitted.uid, *queue_.Take(admitted.uid));
    taken.mapped().on_admitted(*std::move(admission));
  }
  TellWaiting(formerly_blocked);
}

/// Of a long queue only those are looked at for whom something may have changed.
void Admissions::TellWaiting(const std::set<std::int64_t>& formerly_blocked) {
  std::set<std::int64_t> concerned = formerly_blocked;
  for (const auto& [uid, shortage] : blocked_) concerned.insert(uid);
  for (std::int64_t uid : std::exchange(newcomers_, {})) concerned.insert(uid);
  for (std::int64_t uid : concerned) {
    auto waiting = waiting_.find(uid);
    if (waiting != waiting_.end()) Tell(uid, waiting->second);
  }
}

void Admissions::Tell(std::int64_t uid, Waiting& waiting) {
  waiting.planned = true;
  const std::optional<placement::Wait> wait = WaitOf(uid);
  if (!wait) return;
  std::string reason = wait->is_turn ? kTurn : wait->reason;
  if (std::exchange(waiting.said, reason) == reason || !waiting.on_wait) return;
  waiting.on_wait();
}

/// There is room for the first, but no port. Other programs' ports come free without our knowledge.
void Admissions::WaitForPorts(std::int64_t uid) {
  blocker_ = queue_.Find(uid)->job_id;
  blocked_[uid] = {"Waiting for a free port: there is no free port between " +
                       std::to_string(placement::kLeasePortFirst) + " and " +
                       std::to_string(placement::kLeasePortLast) + ".",
                   "It starts when another job or program gives one back."};
  if (std::exchange(waiting_for_ports_, true)) return;
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kPortPause);
  timer->async_wait([this, timer, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    waiting_for_ports_ = false;
    PlanSoon();
  });
}

std::optional<v1::Event::Admitted> Admissions::Admit(const v1::JobRecord& job,
                                                     std::vector<std::string> notes) {
  v1::Event::Admitted admission;
  std::vector<int> ports;
  bool use_chief = cluster::UseChief(job.job().training_input(), job.runtime_version());
  for (int i = 0; i < job.replicas_size(); ++i) {
    replica::v1::Endpoint& endpoint = *admission.add_endpoints();
    if (!GiveAddress(job.uid(), i, endpoint)) {
      for (int leased : ports) leased_.erase(leased);
      return std::nullopt;
    }
    ports.push_back(endpoint.port());
    *endpoint.mutable_replica() = job.replicas(i).id();
    endpoint.set_host_name(cluster::HostName(job.replicas(i).id(), job.cluster_hash(), use_chief));
  }
  for (std::string& note : notes) admission.add_notes(std::move(note));
  ports_of_[job.uid()] = std::move(ports);
  return admission;
}

/// False: all ports are taken.
bool Admissions::GiveAddress(std::int64_t uid, int replica, replica::v1::Endpoint& endpoint) {
  if (network_ == replica::v1::Manifest::ISOLATED) {
    endpoint.set_address(IsolatedAddress(replica));
    endpoint.set_port(kIsolatedPort);
    return true;
  }
  std::optional<int> port = LeasePort();
  if (!port) return false;
  endpoint.set_address(placement::ReplicaAddress(uid, replica));
  endpoint.set_port(*port);
  return true;
}

void Admissions::SpreadLeases(std::uint32_t spread) noexcept {
  next_port_ = placement::kLeasePortFirst + static_cast<int>(spread % kPortCount);
}

std::optional<int> Admissions::LeasePort() {
  for (int tried = 0; tried < kPortCount; ++tried) {
    int port = next_port_;
    next_port_ = port == placement::kLeasePortLast ? placement::kLeasePortFirst : port + 1;
    if (leased_.contains(port) || !probe_(port)) continue;
    leased_.insert(port);
    return port;
  }
  return std::nullopt;
}

placement::Gang GangOf(const v1::JobRecord& job) {
  placement::Gang gang;
  gang.uid = job.uid();
  gang.job_id = job.job().job_id();
  gang.priority = job.job().training_input().scheduling().priority();
  gang.create_time = wire::FromProto(job.job().create_time());
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    gang.replicas.push_back({.machine_type = replica.machine_type(),
                             .cpus = replica.cpus(),
                             .memory_bytes = replica.memory_bytes(),
                             .type = replica.id().type(),
                             .accelerator = replica.accelerators().type(),
                             .accelerator_count = replica.accelerators().count()});
  }
  return gang;
}

bool IsPortFree(int port) {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  bool free = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
              ::listen(socket, 1) == 0;
  ::close(socket);
  return free;
}

}  // namespace trainyard::control
