#include "engine/kubernetes/kubernetes_engine.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>

#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/check.h"
#include "engine/testing/loop.h"

namespace trainyard::engine::kubernetes_engine_test {
namespace {

using kubernetes::Failure;
using kubernetes::Pod;
using kubernetes::Refusal;
using ::testing::HasSubstr;

/// An API server that keeps objects by their names; the test places pods and loses answers.
class FakeCluster {
 public:
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> secrets;
  std::map<std::string, std::string> groups;  ///< the scheduling policy of each PodGroup
  std::map<std::string, Pod> pods;
  std::deque<PodEvent> events;
  std::string ticket;
  int lost_answers = 0;  ///< so many requests are carried out without an answer
  int posts = 0;

  void Change(const std::string& name, const std::function<void(Pod&)>& change) {
    const std::scoped_lock lock(mutex);
    change(pods.at(name));
    events.push_back({.pod = pods.at(name)});
    changed.notify_all();
  }
};

std::string TextIn(const std::string& json, const char* pointer) {
  return std::string(boost::json::parse(json).at_pointer(pointer).as_string());
}

class FakeClient final : public KubeClient {
 public:
  explicit FakeClient(FakeCluster& cluster) : cluster_(cluster) {}

  [[nodiscard]] KubeAnswer<std::string> CreateSecret(const std::string& json) const override {
    const std::scoped_lock lock(cluster_.mutex);
    ++cluster_.posts;
    const bool is_new = cluster_.secrets.insert(TextIn(json, "/metadata/name")).second;
    if (is_new) cluster_.ticket = TextIn(json, "/stringData/ticket");
    if (IsLost()) return std::unexpected(Refusal{.words = "lost"});
    if (!is_new) return std::unexpected(Refusal{.failure = Failure::kThere, .words = "it exists"});
    return "uid";
  }
  [[nodiscard]] KubeAnswer<std::string> FindSecret(const std::string&) const override { return "uid"; }
  [[nodiscard]] KubeAnswer<void> DeleteSecret(const std::string& name) const override {
    const std::scoped_lock lock(cluster_.mutex);
    cluster_.secrets.erase(name);
    std::erase_if(cluster_.pods, [&](const auto& pod) {
      if (!pod.first.starts_with(name + "-")) return false;
      cluster_.events.push_back({.kind = PodEvent::Kind::kGone, .pod = pod.second});
      return true;
    });
    cluster_.changed.notify_all();
    return {};
  }
  [[nodiscard]] KubeAnswer<void> CreatePod(const std::string& json) const override {
    const std::scoped_lock lock(cluster_.mutex);
    ++cluster_.posts;
    const std::string name = TextIn(json, "/metadata/name");
    const bool is_new = cluster_.pods.emplace(name, Pod{.name = name, .uid = "u"}).second;
    if (is_new) cluster_.events.push_back({.pod = cluster_.pods.at(name)});
    cluster_.changed.notify_all();
    if (IsLost()) return std::unexpected(Refusal{.words = "lost"});
    if (!is_new) return std::unexpected(Refusal{.failure = Failure::kThere, .words = "it exists"});
    return {};
  }
  [[nodiscard]] KubeAnswer<PodList> ListPods(const std::string&) const override {
    const std::scoped_lock lock(cluster_.mutex);
    PodList list{.pods = {}, .version = "1"};
    cluster_.events.clear();
    for (const auto& [name, pod] : cluster_.pods) list.pods.push_back(pod);
    return list;
  }
  [[nodiscard]] KubeAnswer<std::string> WatchPods(const std::string&, std::string version,
                                                  const OnEvent& on_event,
                                                  const std::function<bool()>& is_over) const override {
    std::unique_lock lock(cluster_.mutex);
    while (!is_over()) {
      cluster_.changed.wait_for(lock, std::chrono::milliseconds(20));
      for (; !cluster_.events.empty(); cluster_.events.pop_front()) on_event(cluster_.events.front());
    }
    return version;
  }
  [[nodiscard]] KubeAnswer<std::vector<kubernetes::KubeNode>> Nodes() const override { return {}; }
  [[nodiscard]] KubeAnswer<std::vector<std::string>> WarningsOf(const std::string&) const override {
    return {};
  }
  [[nodiscard]] KubeAnswer<PodGroups> FindPodGroups() const override { return PodGroups::kNotServed; }
  [[nodiscard]] KubeAnswer<void> CreatePodGroup(const std::string& json) const override {
    const std::scoped_lock lock(cluster_.mutex);
    const boost::json::value group = boost::json::parse(json);
    const bool is_new = cluster_.groups
                            .emplace(TextIn(json, "/metadata/name"),
                                     boost::json::serialize(group.at_pointer("/spec/schedulingPolicy")))
                            .second;
    if (IsLost()) return std::unexpected(Refusal{.words = "lost"});
    if (!is_new) return std::unexpected(Refusal{.failure = Failure::kThere, .words = "it exists"});
    return {};
  }
  [[nodiscard]] KubeAnswer<void> DeleteWorkload(const std::string&) const override { return {}; }
  [[nodiscard]] KubeAnswer<std::string> QueueWords(const std::string&) const override { return ""; }
  [[nodiscard]] KubeAnswer<std::vector<std::string>> MissingRights() const override { return {}; }
  [[nodiscard]] const std::string& name_space() const noexcept override { return name_space_; }

 private:
  bool IsLost() const { return cluster_.lost_answers > 0 && cluster_.lost_answers-- > 0; }

  FakeCluster& cluster_;
  std::string name_space_ = "default";
};

class KubernetesEngineTest : public ::testing::Test {
 protected:
  KubernetesEngineTest() { Open(); }

  void Open(kubernetes::GangScheduler scheduler = kubernetes::GangScheduler::kTurns) {
    engine_.reset();
    auto opened = KubernetesEngine::Open(loop_.context.get_executor(), folder_.path() + "/kubernetes.db",
                                         {.settings = {},
                                          .scheduler = scheduler,
                                          .boot = {},
                                          .clock = clock_,
                                          .client = std::make_unique<FakeClient>(cluster_)},
                                         host_);
    TY_CHECK(opened);
    engine_ = *std::move(opened);
    engine_->Tell({.on_grant = [this](ReservationKey, Grant grant) { grant_ = std::move(grant); },
                   .on_wait = {},
                   .on_lost = [this](ReservationKey, Revocation lost) { lost_ = std::move(lost); }});
  }
  void Offer(std::optional<Grant> granted = {}) {
    placement::Gang gang{.uid = 7, .job_id = "j", .replicas = {{.machine_type = "m", .cpus = 1}}};
    gang.replicas.push_back(gang.replicas[0]);
    std::ignore = engine_->Offer({.key = kKey, .gang = std::move(gang), .granted = std::move(granted)});
  }
  std::vector<std::string> Pods() {
    const std::scoped_lock lock(cluster_.mutex);
    std::vector<std::string> names;
    for (const auto& [name, pod] : cluster_.pods) names.push_back(name);
    return names;
  }
  bool HasPods(std::size_t count) {
    return loop_.RunUntil([this, count] { return Pods().size() == count; });
  }
  void Place(const std::string& name, const std::string& node) {
    cluster_.Change(name, [&node](Pod& pod) {
      pod.node = node;
      pod.phase = Pod::Phase::kRunning;
    });
  }
  Result<std::string> Come(int slot, const std::string& node, std::string instance) {
    FromAgent::Hello hello;
    hello.set_ticket(cluster_.ticket);
    hello.set_slot(slot);
    hello.set_instance(std::move(instance));
    hello.mutable_node()->set_name(node);
    Result<std::string> taken =
        loop_.Run(engine_->TakeSlot(std::move(hello), {.from = {}, .is_there = [] { return true; }}));
    if (taken) engine_->OnAttached(*taken);
    return taken;
  }
  /// Both agents come, and the gang has its room.
  void Run() {
    const std::vector<std::string> pods = Pods();
    Place(pods.at(0), "n1");
    Place(pods.at(1), "n2");
    EXPECT_EQ(Come(0, "n1", "a").value(), "7-1-1/pod-0");
    EXPECT_EQ(Come(1, "n2", "b").value(), "7-1-1/pod-1");
    ASSERT_TRUE(loop_.RunUntil([this] { return grant_.has_value(); }));
  }

  static constexpr ReservationKey kKey{.job_uid = 7, .try_number = 1};
  Loop loop_;
  TemporaryFolder folder_;
  SystemClock clock_;
  FakeCluster cluster_;
  RemoteAttemptHost host_{loop_.context.get_executor(), [](const std::string&) { return true; }};
  std::unique_ptr<KubernetesEngine> engine_;
  std::optional<Grant> grant_;
  std::optional<Revocation> lost_;
};

TEST_F(KubernetesEngineTest, AGangIsAPodGroupWhereTheClusterPlacesThem) {
  Open(kubernetes::GangScheduler::kPodGroups);
  cluster_.lost_answers = 2;  // of the Secret and of the group
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  const std::string name = Pods().at(0).substr(0, Pods().at(0).rfind('-'));
  EXPECT_EQ(cluster_.groups, (std::map<std::string, std::string>{{name, R"({"gang":{"minCount":2}})"}}));
}

TEST_F(KubernetesEngineTest, GivesRoomWhenAllAgentsHaveCome) {
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  Run();
  EXPECT_EQ(grant_->slots(0).node(), "n1");
  EXPECT_EQ(grant_->slots(1).agent(), "7-1-1/pod-1");
  EXPECT_THAT(grant_->notes(0), HasSubstr("Kubernetes runs it as the pods ty-"));
  engine_->Return(kKey);
  for (const std::string& pod : Pods())
    cluster_.Change(pod, [](Pod& ended) { ended.phase = Pod::Phase::kSucceeded; });
  ASSERT_TRUE(HasPods(0));
  EXPECT_TRUE(cluster_.secrets.empty()) << "nothing is left behind";
}

TEST_F(KubernetesEngineTest, CreatesEachPodOnceThoughAnswersAreLost) {
  cluster_.lost_answers = 3;  // that of the Secret, and of the first pod twice
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  EXPECT_EQ(cluster_.secrets.size(), 1U);
  EXPECT_GT(cluster_.posts, 3);
  Run();
}

TEST_F(KubernetesEngineTest, AnAgentWhosePodIsBeingDeletedIsToldToEnd) {
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  cluster_.Change(Pods().at(0), [](Pod& pod) {
    pod.node = "n1";
    pod.is_deleted = true;
  });
  const Result<std::string> taken = Come(0, "n1", "a");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kPermissionDenied);
  EXPECT_EQ(taken.error().message, "Its pod is being deleted.");
}

TEST_F(KubernetesEngineTest, AnAgentOnAnotherNodeThanItsPodsGetsNoSlot) {
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  Place(Pods().at(0), "n1");
  const Result<std::string> taken = Come(0, "n2", "a");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kPermissionDenied);
  EXPECT_EQ(taken.error().message, "An agent connected from n2, but its pod runs on n1.");
  EXPECT_EQ(Come(0, "n1", "a").value(), "7-1-1/pod-0");
  EXPECT_THAT(Come(0, "n1", "another").error().message, HasSubstr("Another agent"));
}

TEST_F(KubernetesEngineTest, TheNextServerKeepsWhatIsGranted) {
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  Run();
  const Grant grant = *grant_;
  Open();
  Offer(grant);
  engine_->Start();
  EXPECT_EQ(Come(0, "n1", "a").value(), "7-1-1/pod-0") << "the same agent";
  EXPECT_EQ(Pods().size(), 2U);
  EXPECT_FALSE(lost_);
  cluster_.Change(Pods().at(1), [](Pod& pod) {
    pod.phase = Pod::Phase::kFailed;
    pod.terminated = Pod::Terminated{.exit_code = 137, .reason = "OOMKilled"};
  });
  ASSERT_TRUE(loop_.RunUntil([this] { return lost_.has_value(); }));
  EXPECT_EQ(lost_->kind, placement::RoomEnd::kOutOfMemory);
}

TEST_F(KubernetesEngineTest, TheNextServerRemovesWhatNobodyWants) {
  engine_->Start();
  Offer();
  ASSERT_TRUE(HasPods(2));
  Open();
  engine_->Start();
  ASSERT_TRUE(HasPods(0));
}

}  // namespace
}  // namespace trainyard::engine::kubernetes_engine_test
