#include "engine/kubernetes/pod_watch.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "base/async/system_clock.h"

namespace trainyard::engine {
namespace {

using kubernetes::Failure;
using kubernetes::Pod;
using kubernetes::Refusal;
using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr std::size_t kWaitingMax = 10;

/// The answer that the fake gives to one call.
struct Lists {
  KubeAnswer<PodList> answer;
};
struct Watches {
  std::vector<PodEvent> events{};
  KubeAnswer<std::string> end{};
  bool is_endless = false;  ///< it waits after its events until it is over
};

/// Does what the test has said, call by call; after that, a watch waits and a list fails.
class FakeKube final : public KubeClient {
 public:
  void Say(std::variant<Lists, Watches> step) {
    const std::scoped_lock lock(mutex_);
    steps_.push_back(std::move(step));
  }
  [[nodiscard]] std::vector<std::string> TakeCalls() const {
    const std::scoped_lock lock(mutex_);
    return std::exchange(calls_, {});
  }

  [[nodiscard]] KubeAnswer<PodList> ListPods(const std::string& selector) const override {
    const std::scoped_lock lock(mutex_);
    calls_.push_back("list " + selector);
    if (!steps_.empty() && std::holds_alternative<Lists>(steps_.front())) {
      Lists step = std::get<Lists>(std::move(steps_.front()));
      steps_.pop_front();
      return step.answer;
    }
    return std::unexpected(Refusal{.words = "unexpected"});
  }
  [[nodiscard]] KubeAnswer<std::string> WatchPods(const std::string&, std::string version,
                                                  const OnEvent& on_event,
                                                  const std::function<bool()>& is_over) const override {
    Watches step{.end = version, .is_endless = true};
    {
      const std::scoped_lock lock(mutex_);
      calls_.push_back("watch " + version);
      if (!steps_.empty() && std::holds_alternative<Watches>(steps_.front())) {
        step = std::get<Watches>(std::move(steps_.front()));
        steps_.pop_front();
      }
    }
    for (PodEvent& event : step.events) on_event(std::move(event));
    while (step.is_endless && !is_over()) std::this_thread::yield();
    return step.end;
  }

  [[nodiscard]] KubeAnswer<std::string> CreateSecret(const std::string&) const override { return ""; }
  [[nodiscard]] KubeAnswer<std::string> FindSecret(const std::string&) const override { return ""; }
  [[nodiscard]] KubeAnswer<void> DeleteSecret(const std::string&) const override { return {}; }
  [[nodiscard]] KubeAnswer<void> CreatePod(const std::string&) const override { return {}; }
  [[nodiscard]] KubeAnswer<std::vector<kubernetes::KubeNode>> Nodes() const override { return {}; }
  [[nodiscard]] KubeAnswer<std::vector<std::string>> WarningsOf(const std::string&) const override {
    return {};
  }
  [[nodiscard]] KubeAnswer<PodGroups> FindPodGroups() const override { return PodGroups::kNotServed; }
  [[nodiscard]] KubeAnswer<void> CreatePodGroup(const std::string&) const override { return {}; }
  [[nodiscard]] KubeAnswer<void> DeleteWorkload(const std::string&) const override { return {}; }
  [[nodiscard]] KubeAnswer<std::string> QueueWords(const std::string&) const override { return ""; }
  [[nodiscard]] KubeAnswer<std::vector<std::string>> MissingRights() const override { return {}; }
  [[nodiscard]] const std::string& name_space() const noexcept override { return name_space_; }

 private:
  std::string name_space_ = "default";
  mutable std::mutex mutex_;
  mutable std::vector<std::string> calls_;
  mutable std::deque<std::variant<Lists, Watches>> steps_;
};

Pod PodNamed(const std::string& name) { return {.name = name, .uid = "u"}; }
PodEvent Changed(const std::string& name) { return {.pod = PodNamed(name)}; }
PodEvent Gone(const std::string& name) { return {.kind = PodEvent::Kind::kGone, .pod = PodNamed(name)}; }
Lists ListOf(std::vector<Pod> pods, std::string version) {
  return {.answer = PodList{.pods = std::move(pods), .version = std::move(version)}};
}
std::unexpected<Refusal> Refuse(Failure failure, std::string words) {
  return std::unexpected(Refusal{.failure = failure, .words = std::move(words)});
}

class PodWatchTest : public testing::Test {
 protected:
  void Start() {
    watch_.emplace(
        kube_, clock_, loop_.get_executor(),
        PodWatchOptions{.selector = "a=b",
                        .pause_min = milliseconds(2),
                        .pause_max = milliseconds(4),
                        .waiting_max = kWaitingMax},
        PodWatchHandlers{.on_list =
                             [this](std::vector<Pod> pods, SysTime asked_at) {
                               EXPECT_LE(asked_at, clock_.Now());
                               std::string text = "list";
                               for (const Pod& pod : pods) text += " " + pod.name;
                               heard_.push_back(text);
                             },
                         .on_event =
                             [this](const PodEvent& event) {
                               const bool is_gone = event.kind == PodEvent::Kind::kGone;
                               heard_.push_back((is_gone ? "gone " : "changed ") + event.pod.name);
                             },
                         .on_failed = [this](const std::string& words) { heard_.push_back(words); }});
  }
  void WaitForCall(const std::string& call) const {
    for (std::vector<std::string> calls; std::ranges::count(calls, call) == 0; calls = kube_.TakeCalls())
      std::this_thread::yield();
  }
  /// Runs the loop until so many messages were heard.
  std::vector<std::string> Hear(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (heard_.size() < count && loop_.run_one_until(end) > 0) continue;
    EXPECT_GE(heard_.size(), count);
    return heard_;
  }

  FakeKube kube_;
  SystemClock clock_;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{loop_.get_executor()};
  std::vector<std::string> heard_;
  std::optional<PodWatch> watch_;
};

TEST_F(PodWatchTest, ListsAndThenWatchesWhereItWas) {
  kube_.Say(ListOf({PodNamed("a"), PodNamed("b")}, "7"));
  kube_.Say(Watches{.events = {Changed("a"), Gone("b")}, .end = "9"});
  kube_.Say(Watches{.events = {Changed("c")}, .end = "10"});
  Start();
  EXPECT_THAT(Hear(4), ElementsAre("list a b", "changed a", "gone b", "changed c"));
  watch_.reset();
  EXPECT_THAT(kube_.TakeCalls(), testing::Contains("watch 9"));
}

TEST_F(PodWatchTest, ListsAgainWhenTheVersionIsForgotten) {
  kube_.Say(ListOf({PodNamed("a")}, "7"));
  kube_.Say(Watches{.events = {Changed("a")}, .end = Refuse(Failure::kGone, "too old")});
  kube_.Say(ListOf({}, "90"));
  kube_.Say(Watches{.end = Refuse(Failure::kGone, "too old")});
  kube_.Say(ListOf({PodNamed("b")}, "91"));
  Start();
  EXPECT_THAT(Hear(4), ElementsAre("list a", "changed a", "list", "list b")) << "that is no failure";
}

TEST_F(PodWatchTest, SaysWhyItHearsNothingUntilItDoes) {
  kube_.Say(Lists{Refuse(Failure::kNoAnswer, "down")});
  kube_.Say(Lists{Refuse(Failure::kLater, "busy")});
  kube_.Say(ListOf({}, "7"));
  kube_.Say(Watches{.events = {Changed("a")}, .end = Refuse(Failure::kNoAnswer, "down again")});
  kube_.Say(ListOf({PodNamed("a")}, "8"));
  Start();
  EXPECT_THAT(Hear(6), ElementsAre("down", "busy", "list", "changed a", "down again", "list a"));
}

TEST_F(PodWatchTest, AWatchThatEndsWithNothingIsContinued) {
  kube_.Say(ListOf({}, "7"));
  kube_.Say(Watches{.end = "7"});
  kube_.Say(Watches{.events = {Changed("a")}, .end = "8", .is_endless = true});
  Start();
  EXPECT_THAT(Hear(2), ElementsAre("list", "changed a"));
  watch_.reset();
  EXPECT_THAT(kube_.TakeCalls(), ElementsAre("list a=b", "watch 7", "watch 7"));
}

TEST_F(PodWatchTest, NothingIsHeardAfterAStop) {
  kube_.Say(ListOf({}, "7"));
  kube_.Say(Watches{.events = {Changed("a"), Changed("b"), Changed("c")}, .end = "8"});
  Start();
  Hear(1);
  watch_->Stop();
  loop_.poll();
  const std::size_t heard = heard_.size();
  watch_.reset();
  loop_.poll();
  EXPECT_EQ(heard_.size(), heard);
}

TEST_F(PodWatchTest, MessagesOutliveTheWatchAndNotItsHandlers) {
  kube_.Say(ListOf({}, "7"));
  Start();
  WaitForCall("watch 7");  // the list was sent
  watch_.reset();
  loop_.poll();
  EXPECT_THAT(heard_, ElementsAre());
}

TEST_F(PodWatchTest, TooManyMessagesBecomeAList) {
  kube_.Say(ListOf({}, "7"));
  kube_.Say(Watches{
      .events = std::vector<PodEvent>(kWaitingMax + 1, Changed("a")), .end = "8", .is_endless = true});
  kube_.Say(ListOf({PodNamed("a")}, "9"));
  Start();
  WaitForCall("watch 9");  // what was sent before has been dropped
  EXPECT_THAT(Hear(1), ElementsAre("list a"));
}

}  // namespace
}  // namespace trainyard::engine
