#include "simulated_kubernetes.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "base/check.h"
#include "engine/kubernetes/kubernetes_engine.h"

namespace trainyard::bench {

namespace {

namespace json = boost::json;
using engine::KubeAnswer;
using engine::PodEvent;
using kubernetes::Failure;
using kubernetes::Pod;
using kubernetes::Refusal;

constexpr int kCpusOfNode = 32;
constexpr int kGpusOfNode = 8;
constexpr int kGpuNodesEach = 20;
constexpr int kSmallNodes = 8;
constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kPool = "pool";

Refusal Away() { return {.failure = Failure::kNoAnswer, .words = "The API server does not answer."}; }
Refusal There() { return {.failure = Failure::kThere, .words = "It exists already."}; }

std::string SecretOf(const std::string& pod) { return pod.substr(0, pod.rfind('-')); }

std::string Text(const json::value& value) { return json::value_to<std::string>(value); }

std::string NameIn(const json::value& object) { return Text(object.at("metadata").at("name")); }

SimulatedPods::Takes TakesOf(const json::value& pod) {
  SimulatedPods::Takes takes;
  const json::object& spec = pod.at("spec").as_object();
  if (const json::value* selector = spec.if_contains("nodeSelector"))
    takes.pool = Text(selector->as_object().at(kPool));
  const json::object& requests = spec.at("containers").at(0).at("resources").at("requests").as_object();
  takes.cpu_millis = std::llround(1e3 * kubernetes::ParseQuantity(Text(requests.at("cpu"))).value_or(0));
  if (const json::value* gpus = requests.if_contains(kGpu)) takes.gpus = std::stoll(Text(*gpus));
  return takes;
}

/// Asks the simulated Kubernetes. `shared` outlives it. Any thread.
class SimulatedKubeClient final : public engine::KubeClient {
 public:
  explicit SimulatedKubeClient(KubernetesSimulation::Shared& shared) : shared_(shared) {}

  KubeAnswer<std::string> CreateSecret(const std::string& text) const override {
    return Call([&]() -> KubeAnswer<std::string> {
      const json::value secret = json::parse(text);
      const std::string name = NameIn(secret);
      const std::string ticket = Text(secret.at("stringData").at("ticket"));
      if (!shared_.pods.With([&](SimulatedPods& pods) { return pods.CreateSecret(name, ticket); }))
        return std::unexpected(There());
      return "uid-" + name;
    });
  }
  KubeAnswer<std::string> FindSecret(const std::string& name) const override {
    return Call([&] { return KubeAnswer<std::string>("uid-" + name); });
  }
  KubeAnswer<void> DeleteSecret(const std::string& name) const override {
    return Call([&] {
      shared_.pods.With([&](SimulatedPods& pods) { pods.DeleteSecret(name); });
      ++shared_.secrets_deleted;
      return KubeAnswer<void>();
    });
  }
  KubeAnswer<void> CreatePod(const std::string& text) const override {
    return Call([&]() -> KubeAnswer<void> {
      const json::value pod = json::parse(text);
      const auto create = [&](SimulatedPods& pods) { return pods.CreatePod(NameIn(pod), TakesOf(pod)); };
      if (!shared_.pods.With(create)) return std::unexpected(There());
      ++shared_.pods_created;
      return {};
    });
  }
  KubeAnswer<engine::PodList> ListPods(const std::string&) const override {
    return Call([&] {
      ++shared_.lists;
      return KubeAnswer<engine::PodList>(
          {.pods = shared_.pods.With([](SimulatedPods& pods) { return pods.List(); }), .version = "1"});
    });
  }
  KubeAnswer<std::string> WatchPods(const std::string&, std::string version, const OnEvent& on_event,
                                    const std::function<bool()>& is_over) const override {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (shared_.away) return std::unexpected(Away());
      ++shared_.under_way;
      for (PodEvent& event : shared_.pods.With([](SimulatedPods& pods) { return pods.TakeEvents(); }))
        on_event(std::move(event));
      --shared_.under_way;
      if (is_over()) return version;
    }
  }
  KubeAnswer<std::vector<kubernetes::KubeNode>> Nodes() const override {
    return Call([&] {
      return KubeAnswer<std::vector<kubernetes::KubeNode>>(
          shared_.pods.With([](SimulatedPods& pods) { return pods.nodes(); }));
    });
  }
  KubeAnswer<std::vector<std::string>> WarningsOf(const std::string&) const override {
    return Call([] { return KubeAnswer<std::vector<std::string>>(); });
  }
  KubeAnswer<engine::PodGroups> FindPodGroups() const override { return engine::PodGroups::kNotServed; }
  KubeAnswer<void> CreatePodGroup(const std::string&) const override { return {}; }
  KubeAnswer<void> DeleteWorkload(const std::string&) const override { return {}; }
  KubeAnswer<std::string> QueueWords(const std::string&) const override { return ""; }
  KubeAnswer<std::vector<std::string>> MissingRights() const override { return {}; }
  const std::string& name_space() const noexcept override { return name_space_; }

 private:
  /// Does the work of a call, unless the cluster is away.
  template <class Work>
  auto Call(Work work) const -> decltype(work()) {
    ++shared_.under_way;
    auto answer = shared_.away ? decltype(work())(std::unexpected(Away())) : work();
    --shared_.under_way;
    return answer;
  }

  KubernetesSimulation::Shared& shared_;
  std::string name_space_ = "training";
};

}  // namespace

SimulatedPods::SimulatedPods(int nodes) {
  const auto add = [this](const std::string& name, const std::string& pool, int gpus) {
    kubernetes::KubeNode node{.name = name, .cpus = kCpusOfNode, .memory_bytes = std::int64_t{128} << 30};
    if (!pool.empty()) node.labels[kPool] = pool;
    if (gpus > 0) node.devices[kGpu] = gpus;
    nodes_.push_back(std::move(node));
    free_[pool].cpu_millis += 1'000 * kCpusOfNode;
    free_[pool].gpus += gpus;
  };
  for (int i = 0; i < nodes; ++i)
    add("node" + std::to_string(i), {}, i % kGpuNodesEach == 0 ? kGpusOfNode : 0);
  for (int i = 0; i < kSmallNodes; ++i) add("small" + std::to_string(i), "small", 0);
}

void SimulatedPods::Say(const Pod& pod, PodEvent::Kind kind) {
  events_.push_back({.kind = kind, .pod = pod});
}

void SimulatedPods::SayAgents(const Pod& pod, bool began) {
  const auto name = kubernetes::ParsePodName(installation_, pod.name);
  TY_CHECK(name.has_value());
  changes_.push_back({.submission = name->submission,
                      .ticket = secrets_.at(SecretOf(pod.name)).ticket,
                      .first_slot = name->slot,
                      .slots = 1,
                      .began = began});
}

bool SimulatedPods::CreateSecret(const std::string& name, const std::string& ticket) {
  installation_ = name.substr(3, name.find('-', 3) - 3);  // of "ty-1f3a90c2-17-1-2"
  return secrets_.try_emplace(name, OneSecret{.ticket = ticket}).second;
}

bool SimulatedPods::CreatePod(const std::string& name, const Takes& takes) {
  const auto [place, is_new] = pods_.try_emplace(name);
  if (!is_new) return false;
  OnePod& one = place->second;
  one = {.pod = {.name = name, .uid = "uid-" + name}, .takes = takes, .number = ++created_};
  one.pod.conditions = {{.type = "PodScheduled",
                         .status = "False",
                         .reason = "Unschedulable",
                         .message = "0/10000 nodes are available: 10000 Insufficient cpu."}};
  const auto secret = secrets_.find(SecretOf(name));
  if (secret == secrets_.end()) {  // its owner was deleted meanwhile: so is the pod
    Say(one.pod, PodEvent::Kind::kGone);
    pods_.erase(place);
    return true;
  }
  secret->second.pods.insert(name);
  pending_.emplace(one.number, name);
  PlaceIfItFits(one);
  if (!one.pod.has_node()) Say(one.pod, PodEvent::Kind::kChanged);
  return true;
}

void SimulatedPods::PlaceIfItFits(OnePod& one) {
  Room& room = free_[one.takes.pool];
  if (closed_ || one.takes.cpu_millis > room.cpu_millis || one.takes.gpus > room.gpus) return;
  room.cpu_millis -= one.takes.cpu_millis;
  room.gpus -= one.takes.gpus;
  pending_.erase(one.number);
  one.pod.node =
      "node" + one.pod.name.substr(one.pod.name.rfind('-') + 1);  // where the slot's agent says it is
  one.pod.phase = Pod::Phase::kRunning;
  one.pod.conditions = {{.type = "PodScheduled", .status = "True"}, {.type = "Ready", .status = "True"}};
  Say(one.pod, PodEvent::Kind::kChanged);
  SayAgents(one.pod, true);
}

void SimulatedPods::End(OnePod& one) {
  pending_.erase(one.number);
  if (!one.pod.has_node() || one.pod.has_ended()) return;
  Room& room = free_[one.takes.pool];
  room.cpu_millis += one.takes.cpu_millis;
  room.gpus += one.takes.gpus;
  one.pod.phase = Pod::Phase::kSucceeded;
  SayAgents(one.pod, false);
}

void SimulatedPods::DeleteSecret(const std::string& name) {
  const auto secret = secrets_.find(name);
  if (secret == secrets_.end()) return;
  for (const std::string& pod : secret->second.pods) {
    const auto one = pods_.find(pod);
    End(one->second);
    one->second.pod.is_deleted = true;
    Say(one->second.pod, PodEvent::Kind::kGone);
    pods_.erase(one);
  }
  secrets_.erase(secret);
}

void SimulatedPods::Complete(const placement::Submission& submission) {
  const auto found = secrets_.find(kubernetes::SecretName(installation_, submission));
  if (found == secrets_.end()) return;
  for (const std::string& pod : found->second.pods) {
    OnePod& one = pods_.at(pod);
    if (!one.pod.has_node()) continue;
    End(one);
    Say(one.pod, PodEvent::Kind::kChanged);
  }
}

std::vector<Pod> SimulatedPods::List() {
  events_.clear();
  std::vector<Pod> all;
  for (const auto& [name, one] : pods_) all.push_back(one.pod);
  return all;
}

std::deque<PodEvent> SimulatedPods::TakeEvents() { return std::exchange(events_, {}); }

std::vector<AgentsChange> SimulatedPods::Step() {
  for (const auto& [number, name] : std::map(pending_)) PlaceIfItFits(pods_.at(name));
  return std::exchange(changes_, {});
}

Result<std::unique_ptr<engine::ClusterEngine>> KubernetesSimulation::Open(boost::asio::any_io_executor loop,
                                                                          const std::string& database,
                                                                          engine::RemoteAttemptHost& host) {
  engine::KubernetesEngine::Options options{.settings = {.regions = {{"us-east1", {{kPool, "small"}}}}},
                                            .boot = SimulatedSource(),
                                            .clock = clock_,
                                            .client = std::make_unique<SimulatedKubeClient>(shared_)};
  return engine::KubernetesEngine::Open(std::move(loop), database, std::move(options), host);
}

std::vector<AgentsChange> KubernetesSimulation::Step(SysTime) {
  return shared_.pods.With([](SimulatedPods& pods) { return pods.Step(); });
}

void KubernetesSimulation::Complete(const placement::Submission& submission, SysTime) {
  shared_.pods.With([&](SimulatedPods& pods) { pods.Complete(submission); });
}

bool KubernetesSimulation::is_busy() const {
  if (shared_.away) return false;  // events wait for the next list
  return shared_.under_way > 0 ||
         shared_.pods.With([](const SimulatedPods& pods) { return pods.has_events(); });
}

void KubernetesSimulation::SetClosed(bool closed) {
  shared_.pods.With([closed](SimulatedPods& pods) { pods.SetClosed(closed); });
}

}  // namespace trainyard::bench
