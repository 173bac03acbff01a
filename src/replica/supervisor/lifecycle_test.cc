#include "replica/supervisor/lifecycle.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trainyard::replica {
namespace {

using namespace std::chrono_literals;
using enum Lifecycle::State;
using enum AttemptEvent;
using enum Action;
using std::chrono::milliseconds;
using Actions = std::vector<Action>;

constexpr Lifecycle::Time kStart{1h};
constexpr milliseconds kGrace = 7s;

constexpr std::array kStates = {kPreparing, kReady,     kRunning, kStopping,
                                kDraining,  kRecording, kEnded,   kDone};
constexpr std::array kEvents = {kPrepared,    kFailed,     kShort,         kClusterKnown,   kLaunched,
                                kStopAsked,   kKillAsked,  kShutdownAsked, kDeadlinePassed, kProcessEnded,
                                kOutputSeen,  kOutputOver, kLinesStored,   kRecorded,       kContainerLeft,
                                kDiskRefused, kDismissed,  kAbandoned};

/// An event, and the state of the attempt afterwards.
struct Step {
  AttemptEvent event;
  Lifecycle::State state;
  Actions actions = {};
  std::optional<milliseconds> deadline = {};  ///< after the time of the event; nothing: there is none
  milliseconds at = 0ms;                      ///< after the start
};

struct Row {
  const char* name;
  std::vector<Step> steps;
};

class LifecycleTable : public testing::TestWithParam<Row> {};

TEST_P(LifecycleTable, GoesThisWay) {
  Lifecycle now{.grace = kGrace};
  for (std::size_t i = 0; i < GetParam().steps.size(); ++i) {
    const Step& step = GetParam().steps[i];
    const AttemptTransition made = Next(now, step.event, kStart + step.at);
    EXPECT_EQ(made.next.state, step.state) << i;
    EXPECT_EQ(made.actions, step.actions) << i;
    const auto deadline = step.deadline ? kStart + step.at + *step.deadline : Lifecycle::Time::max();
    EXPECT_EQ(made.next.deadline, deadline) << i;
    now = made.next;
  }
}

const Actions kToldToEnd = {kSayStop, kEndUnstarted};

INSTANTIATE_TEST_SUITE_P(
    Rules, LifecycleTable,
    testing::Values(
        Row{"succeeds",
            {{kPrepared, kReady, {kSendPhase}},
             {kClusterKnown, kReady, {kLaunch}},
             {kLaunched, kRunning, {kSendPhase}},
             {kProcessEnded, kDraining, {kReap}, kDrainMax},
             {kOutputOver, kRecording, {kFinish}},
             {kLinesStored, kRecording, {kRecord}},
             {kRecorded, kEnded},
             {kDismissed, kDone}}},
        Row{"the_cluster_comes_before_what_it_runs_in",
            {{kClusterKnown, kPreparing},
             {kPrepared, kReady, {kSendPhase}},
             {kClusterKnown, kReady, {kLaunch}}}},
        Row{"cannot_be_prepared", {{kFailed, kRecording}, {kPrepared, kRecording}}},
        Row{"cannot_be_launched",
            {{kPrepared, kReady, {kSendPhase}}, {kClusterKnown, kReady, {kLaunch}}, {kFailed, kRecording}}},
        Row{"the_machine_lacks_something_to_prepare_it",
            {{kShort, kPreparing, {}, kShortageRetry},
             {kDeadlinePassed, kPreparing, {kPrepare}, {}, 1s},
             {kShort, kPreparing, {}, kShortageRetry, 1s},
             {kStopAsked, kRecording, kToldToEnd, {}, 2s}}},
        Row{"the_machine_lacks_something_to_launch_it",
            {{kPrepared, kReady, {kSendPhase}},
             {kClusterKnown, kReady, {kLaunch}},
             {kShort, kReady, {}, kShortageRetry},
             {kDeadlinePassed, kReady, {kLaunch}, {}, 1s},
             {kLaunched, kRunning, {kSendPhase}, {}, 1s}}},
        Row{"is_abandoned_while_it_is_prepared", {{kAbandoned, kDone, {kGiveUp}}}},
        Row{"is_abandoned_while_it_runs",
            {{kPrepared, kReady, {kSendPhase}},
             {kLaunched, kRunning, {kSendPhase}},
             {kAbandoned, kDone, {kGiveUp}}}},
        Row{"stopped_while_it_is_prepared",
            {{kStopAsked, kRecording, kToldToEnd}, {kStopAsked, kRecording}, {kKillAsked, kRecording}}},
        Row{"killed_while_it_is_ready",
            {{kPrepared, kReady, {kSendPhase}},
             {kKillAsked, kRecording, kToldToEnd},
             {kClusterKnown, kRecording}}},
        Row{"is_killed_after_the_grace",
            {{kPrepared, kReady, {kSendPhase}},
             {kLaunched, kRunning, {kSendPhase}},
             {kStopAsked, kStopping, {kSayStop, kTerminate}, kGrace, 1s},
             {kStopAsked, kStopping, {}, kGrace - 1s, 2s},  // the first deadline stays
             {kDeadlinePassed, kStopping, {kKill}, {}, 8s},
             {kProcessEnded, kDraining, {kReap}, kDrainMax, 8s}}},
        Row{"is_killed_at_once",
            {{kPrepared, kReady, {kSendPhase}},
             {kLaunched, kRunning, {kSendPhase}},
             {kKillAsked, kStopping, {kSayStop}, 0ms},
             {kDeadlinePassed, kStopping, {kKill}}}},
        Row{"a_kill_cuts_the_grace_short",
            {{kPrepared, kReady, {kSendPhase}},
             {kLaunched, kRunning, {kSendPhase}},
             {kStopAsked, kStopping, {kSayStop, kTerminate}, kGrace},
             {kKillAsked, kStopping, {}, 0ms, 1s}}},
        Row{"what_is_left_running_may_write",
            {{kPrepared, kReady, {kSendPhase}},
             {kLaunched, kRunning, {kSendPhase}},
             {kOutputSeen, kRunning},
             {kProcessEnded, kDraining, {kReap}, kDrainMax},
             {kStopAsked, kDraining, {}, kDrainMax},  // too late
             {kOutputSeen, kDraining, {}, kDrainMax, 4s},
             {kDeadlinePassed, kRecording, {kFinish}, {}, 9s}}},
        Row{"the_record_waits_for_the_container_and_the_disk",
            {{kFailed, kRecording},
             {kDismissed, kRecording},  // too early
             {kLinesStored, kRecording, {kRecord}},
             {kContainerLeft, kRecording, {}, kContainerRetry},
             {kLinesStored, kRecording, {kRecord}, {}, 1s},
             {kDiskRefused, kRecording, {}, kDiskRetry, 1s},
             {kLinesStored, kRecording, {kRecord}, {}, 2s},
             {kRecorded, kEnded, {}, {}, 2s}}},
        Row{"shuts_down_while_it_runs",
            {{kPrepared, kReady, {kSendPhase}},
             {kLaunched, kRunning, {kSendPhase}},
             {kShutdownAsked, kStopping, {kSayStop, kTerminate}, kGrace},
             {kProcessEnded, kDraining, {kReap}, kDrainMax},
             {kOutputOver, kRecording, {kFinish}},
             {kRecorded, kEnded, {}, kShutdownWaitMax},
             {kDeadlinePassed, kDone}}},
        Row{"shuts_down_when_it_has_ended",
            {{kFailed, kRecording},
             {kRecorded, kEnded},
             {kShutdownAsked, kEnded, {}, kShutdownWaitMax, 1s},
             {kShutdownAsked, kEnded, {}, kShutdownWaitMax - 1s, 2s},  // the first deadline stays
             {kDismissed, kDone, {}, {}, 3s}}},
        Row{"nobody_wants_it_any_more", {{kFailed, kRecording}, {kAbandoned, kDone}, {kStopAsked, kDone}}},
        Row{"nobody_wants_the_record", {{kFailed, kRecording}, {kRecorded, kEnded}, {kAbandoned, kDone}}}),
    [](const auto& row) { return row.param.name; });

/// Every state that events can lead to.
std::vector<Lifecycle> Reachable() {
  std::vector<Lifecycle> found = {{.grace = kGrace}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const AttemptEvent event : kEvents) {
      const Lifecycle next = Next(found[i], event, kStart).next;
      if (std::ranges::find(found, next) == found.end()) found.push_back(next);
    }
  }
  return found;
}

TEST(Lifecycle, ReachesEveryStateAndDoneFromEach) {
  std::set<Lifecycle::State> seen;
  for (const Lifecycle& from : Reachable()) seen.insert(from.state);
  EXPECT_EQ(seen.size(), kStates.size());
  for (const Lifecycle& from : Reachable()) {
    Lifecycle now = from;
    for (const AttemptEvent event : {kStopAsked, kProcessEnded, kOutputOver, kRecorded, kDismissed})
      now = Next(now, event, kStart).next;
    EXPECT_EQ(now.state, kDone) << static_cast<int>(from.state);
  }
}

TEST(Lifecycle, ThePhaseOnlyGoesForwardAndIsSentWhenItChanges) {
  for (const Lifecycle& from : Reachable()) {
    for (const AttemptEvent event : kEvents) {
      const AttemptTransition made = Next(from, event, kStart);
      EXPECT_GE(made.next.phase, from.phase);
      const bool told = made.next.phase != from.phase && made.next.phase != v1::ENDED;
      EXPECT_EQ(std::ranges::count(made.actions, kSendPhase), told ? 1 : 0);
    }
  }
}

TEST(Lifecycle, NothingLeadsOutOfDone) {
  for (const AttemptEvent event : kEvents) {
    const AttemptTransition made = Next({.state = kDone}, event, kStart);
    EXPECT_EQ(made.next.state, kDone);
    EXPECT_TRUE(made.actions.empty());
  }
}

TEST(Lifecycle, OnlyStatesWithATimerHaveADeadline) {
  const std::set<Lifecycle::State> timed = {kPreparing, kReady, kStopping, kDraining, kRecording, kEnded};
  for (const Lifecycle& from : Reachable()) {
    if (!timed.contains(from.state)) EXPECT_EQ(from.deadline, Lifecycle::Time::max());
  }
}

TEST(Lifecycle, IsAbandonedInEveryState) {
  for (const Lifecycle& from : Reachable()) EXPECT_EQ(Next(from, kAbandoned, kStart).next.state, kDone);
}

}  // namespace
}  // namespace trainyard::replica
