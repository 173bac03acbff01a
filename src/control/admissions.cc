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

constexpr std::chrono::seconds kPortPause{2};  ///< before all leasable ports are tried again

/// 10.77.1.1 to 10.77.250.250. The same for every job: no job's switch leads anywhere else.
std::string IsolatedAddress(int replica) {
  constexpr int kPerNetwork = 250;
  return "10.77." + std::to_string(1 + replica / kPerNetwork) + "." +
         std::to_string(1 + replica % kPerNetwork);
}

}  // namespace

Admissions::Admissions(boost::asio::any_io_executor loop, placement::Capacity capacity, PortProbe probe,
                       replica::v1::Manifest::Network network)
    : loop_(std::move(loop)), capacity_(capacity), probe_(std::move(probe)), network_(network) {}

void Admissions::Enqueue(const v1::JobRecord& job, OnAdmitted on_admitted) {
  waiting_.emplace(job.uid(), Waiting{job, std::move(on_admitted)});
  queue_.Add(GangOf(job));
  PlanSoon();
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

std::optional<placement::Plan::Wait> Admissions::WaitOf(std::int64_t uid) const {
  if (shortage_.empty()) return std::nullopt;
  return queue_.WaitOf(uid, shortage_);
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
  placement::Plan plan = placement::PlanAdmissions(capacity_, running, queue_.InOrder());
  shortage_ = std::move(plan.shortage);
  for (placement::Plan::Admission& admitted : plan.admitted) {
    std::optional<v1::Event::Admitted> admission =
        Admit(waiting_.at(admitted.uid).job, std::move(admitted.notes));
    if (!admission) return WaitForPorts();
    auto taken = waiting_.extract(admitted.uid);
    running_.emplace(admitted.uid, *queue_.Take(admitted.uid));
    taken.mapped().on_admitted(*std::move(admission));
  }
}

/// There is room for the first, but no port. Other programs' ports come free without our knowledge.
void Admissions::WaitForPorts() {
  shortage_ = "no free port between " + std::to_string(placement::kLeasePortFirst) + " and " +
              std::to_string(placement::kLeasePortLast);
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

std::optional<int> Admissions::LeasePort() {
  constexpr int kPortCount = placement::kLeasePortLast - placement::kLeasePortFirst + 1;
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
                             .type = replica.id().type()});
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
