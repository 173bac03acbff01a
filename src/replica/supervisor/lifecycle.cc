#include "replica/supervisor/lifecycle.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace trainyard::replica {

namespace {

using enum Lifecycle::State;
using enum AttemptEvent;
using enum Action;
using Time = Lifecycle::Time;

/// The new value of the deadline.
enum class Timer { kNone, kNow, kGrace, kDrain, kShortage, kContainer, kDisk, kShutdown };

struct Rule {
  Lifecycle::State from;
  AttemptEvent event;
  Lifecycle::State to;
  Timer timer = Timer::kNone;
  std::array<Action, 2> actions = {};
  std::size_t action_count = 0;

  constexpr Rule(Lifecycle::State from_state, AttemptEvent on, Lifecycle::State to_state,
                 std::initializer_list<Action> does = {}, Timer sets = Timer::kNone)
      : from(from_state), event(on), to(to_state), timer(sets), action_count(does.size()) {
    std::ranges::copy(does, actions.begin());
  }
};

constexpr std::array kRules = {
    Rule(kPreparing, kPrepared, kReady, {kSendPhase}),
    Rule(kPreparing, kFailed, kRecording),
    Rule(kPreparing, kShort, kPreparing, {}, Timer::kShortage),
    Rule(kPreparing, kDeadlinePassed, kPreparing, {kPrepare}),
    Rule(kPreparing, kStopAsked, kRecording, {kSayStop, kEndUnstarted}),
    Rule(kPreparing, kKillAsked, kRecording, {kSayStop, kEndUnstarted}),
    Rule(kPreparing, kShutdownAsked, kRecording, {kSayStop, kEndUnstarted}),

    Rule(kReady, kClusterKnown, kReady, {kLaunch}),
    Rule(kReady, kLaunched, kRunning, {kSendPhase}),
    Rule(kReady, kFailed, kRecording),
    Rule(kReady, kShort, kReady, {}, Timer::kShortage),
    Rule(kReady, kDeadlinePassed, kReady, {kLaunch}),
    Rule(kReady, kStopAsked, kRecording, {kSayStop, kEndUnstarted}),
    Rule(kReady, kKillAsked, kRecording, {kSayStop, kEndUnstarted}),
    Rule(kReady, kShutdownAsked, kRecording, {kSayStop, kEndUnstarted}),

    Rule(kRunning, kStopAsked, kStopping, {kSayStop, kTerminate}, Timer::kGrace),
    Rule(kRunning, kShutdownAsked, kStopping, {kSayStop, kTerminate}, Timer::kGrace),
    Rule(kRunning, kKillAsked, kStopping, {kSayStop}, Timer::kNow),
    Rule(kRunning, kProcessEnded, kDraining, {kReap}, Timer::kDrain),

    Rule(kStopping, kKillAsked, kStopping, {}, Timer::kNow),
    Rule(kStopping, kDeadlinePassed, kStopping, {kKill}),
    Rule(kStopping, kProcessEnded, kDraining, {kReap}, Timer::kDrain),

    Rule(kDraining, kOutputSeen, kDraining, {}, Timer::kDrain),
    Rule(kDraining, kOutputOver, kRecording, {kFinish}),
    Rule(kDraining, kDeadlinePassed, kRecording, {kFinish}),

    Rule(kRecording, kLinesStored, kRecording, {kRecord}),
    Rule(kRecording, kContainerLeft, kRecording, {}, Timer::kContainer),
    Rule(kRecording, kDiskRefused, kRecording, {}, Timer::kDisk),
    Rule(kRecording, kRecorded, kEnded, {}, Timer::kShutdown),

    Rule(kEnded, kShutdownAsked, kEnded, {}, Timer::kShutdown),
    Rule(kEnded, kDismissed, kDone),
    Rule(kEnded, kDeadlinePassed, kDone),

    Rule(kPreparing, kAbandoned, kDone, {kGiveUp}),
    Rule(kReady, kAbandoned, kDone, {kGiveUp}),
    Rule(kRunning, kAbandoned, kDone, {kGiveUp}),
    Rule(kStopping, kAbandoned, kDone, {kGiveUp}),
    Rule(kDraining, kAbandoned, kDone, {kGiveUp}),
    Rule(kRecording, kAbandoned, kDone),
    Rule(kEnded, kAbandoned, kDone),
};

Time DeadlineOf(Timer timer, const Lifecycle& from, Time now) {
  switch (timer) {
    case Timer::kNone: return Time::max();
    case Timer::kNow: return now;
    case Timer::kGrace: return now + from.grace;
    case Timer::kDrain: return now + kDrainMax;
    case Timer::kShortage: return now + kShortageRetry;
    case Timer::kContainer: return now + kContainerRetry;
    case Timer::kDisk: return now + kDiskRetry;
    case Timer::kShutdown:
      return from.shutting_down ? std::min(from.deadline, now + kShutdownWaitMax) : Time::max();
  }
  return Time::max();
}

/// A program that never ran goes from PREPARING or READY to ENDED.
v1::Phase PhaseOf(Lifecycle::State state, v1::Phase before) {
  switch (state) {
    case kReady: return v1::READY;
    case kRunning: return v1::RUNNING;
    case kEnded: return v1::ENDED;
    case kPreparing:
    case kStopping:
    case kDraining:
    case kRecording:
    case kDone: return before;
  }
  return before;
}

}  // namespace

AttemptTransition Next(const Lifecycle& from, AttemptEvent event, Time now) {
  AttemptTransition result{.next = from, .actions = {}};
  if (event == kShutdownAsked) result.next.shutting_down = true;
  const auto rule = std::ranges::find_if(
      kRules, [&](const Rule& one) { return one.from == from.state && one.event == event; });
  if (rule == kRules.end()) return result;
  result.actions.assign(rule->actions.begin(), rule->actions.begin() + rule->action_count);
  result.next.deadline = DeadlineOf(rule->timer, result.next, now);
  result.next.state = rule->to;
  result.next.phase = PhaseOf(rule->to, from.phase);
  return result;
}

}  // namespace trainyard::replica
