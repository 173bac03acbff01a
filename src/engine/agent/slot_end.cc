#include "engine/agent/slot_end.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "engine/local/attempt_files.h"

namespace trainyard::agent {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

/// The pause between two checks without an event: a start that was under way may still bring a supervisor.
constexpr milliseconds kLookPause{1'000};

void KillPrograms(const std::string& attempts_dir, const std::vector<std::string>& attempts) {
  for (const std::string& attempt : attempts) engine::KillProgram({attempts_dir + "/" + attempt});
}

void SendSigterm(const std::string& attempts_dir, const std::vector<std::string>& attempts) {
  for (const std::string& attempt : attempts) {
    const UniqueFd supervisor = engine::OpenSupervisor({attempts_dir + "/" + attempt});
    if (supervisor) ::syscall(SYS_pidfd_send_signal, supervisor.get(), SIGTERM, nullptr, 0);
  }
}

}  // namespace

EndPlan PlanEnd(EndCause cause, SysTime now, std::optional<SysTime> until, const std::string& reason) {
  const SysTime limit = until.value_or(SysTime::max());
  switch (cause) {
    case EndCause::kSignal: return {.reason = "the cluster ends the slot", .deadline = now + kSignalWaitMax};
    case EndCause::kTimeLimit:
      return {.is_time_limit = true, .reason = "the cluster's time limit is reached", .deadline = limit};
    case EndCause::kRelease: break;
  }
  return {.is_told = false,
          .reason = reason.empty() ? "the server releases the slot" : reason,
          .deadline = limit};
}

EndPlan Combine(const EndPlan& first, const EndPlan& second) {
  EndPlan both = first;
  both.deadline = std::min(first.deadline, second.deadline);
  return both;
}

SlotEnd::SlotEnd(asio::any_io_executor loop, Context context)
    : context_(std::move(context)), begun_(loop), changed_(std::move(loop)) {}

void SlotEnd::Begin(const EndPlan& plan) {
  Diagnose(DiagnosticLevel::kInfo, "this agent ends: " + plan.reason);
  const bool is_first = !plan_;
  plan_ = is_first ? plan : Combine(*plan_, plan);
  context_.requests.RefuseStarts("the slot is ending: " + plan_->reason);
  if (is_first) Tell();
  begun_.Set();
  changed_.Set();
}

void SlotEnd::Tell() {
  if (!plan_ || !plan_->is_told) return;
  v1::FromAgent frame;
  frame.mutable_ending()->set_reason(plan_->reason);
  frame.mutable_ending()->set_time_limit(plan_->is_time_limit);
  context_.uplink.Send(frame);
}

milliseconds SlotEnd::Rest() const {
  if (plan_->deadline == SysTime::max()) return std::chrono::hours(24);
  const auto rest = plan_->deadline - SysTime(std::chrono::system_clock::now());
  return std::clamp(std::chrono::duration_cast<milliseconds>(rest), milliseconds(0),
                    milliseconds(std::chrono::hours(24)));
}

asio::awaitable<void> SlotEnd::Run() {
  co_await begun_.Wait();
  co_await Stop();
  co_await HandOver();
}

asio::awaitable<std::vector<std::string>> SlotEnd::Living() {
  std::vector<std::string> living;
  const std::vector<v1::AttemptFound> all = co_await context_.requests.FindAll();
  for (const v1::AttemptFound& one : all)
    if (one.state() == v1::AttemptFound::ALIVE) living.push_back(one.attempt_id());
  co_return living;
}

asio::awaitable<void> SlotEnd::Signal(std::vector<std::string> living) {
  std::erase_if(living, [this](const std::string& one) { return !told_.insert(one).second; });
  auto signal = [dir = context_.attempts_dir, living = std::move(living)] { SendSigterm(dir, living); };
  co_await OnPool(files_, std::move(signal));
}

asio::awaitable<void> SlotEnd::KillAll(std::vector<std::string> living) {
  for (const std::string& one : living) {
    Diagnose(DiagnosticLevel::kWarning, "attempt " + one + " did not end in time and is killed");
    engine::AttemptRef attempt{.id = one};
    const Status killed = co_await context_.host.Kill(std::move(attempt));
    if (!killed) Diagnose(DiagnosticLevel::kError, "attempt " + one + ": " + killed.error().message);
  }
}

asio::awaitable<void> SlotEnd::Stop() {
  for (;;) {
    changed_.Reset();
    std::vector<std::string> living = co_await Living();
    if (living.empty() && context_.requests.starts_under_way() == 0) co_return;
    if (Rest() == milliseconds(0)) co_return co_await KillAll(std::move(living));
    co_await Signal(living);
    if (Rest() <= kHandOverTime) {
      auto kill = [dir = context_.attempts_dir, living = std::move(living)] { KillPrograms(dir, living); };
      co_await OnPool(files_, std::move(kill));
    }
    co_await changed_.WaitFor(std::min(Rest(), kLookPause));
  }
}

/// A dismissed supervisor has handed over everything, but only the server knows: it forgets attempts whose
/// results it has stored.
asio::awaitable<void> SlotEnd::HandOver() {
  for (;;) {
    changed_.Reset();
    const auto attempts = co_await context_.host.List();
    if (!attempts || attempts->empty()) co_return;
    const milliseconds rest = Rest();
    const bool is_connected = context_.uplink.welcomed();
    const milliseconds wait_max = is_connected ? std::min<milliseconds>(rest, kHandOverMax) : rest;
    if (co_await changed_.WaitFor(wait_max)) continue;
    if (is_connected || Rest() == milliseconds(0)) {
      Diagnose(DiagnosticLevel::kWarning, "the server has not collected the results of " +
                                              std::to_string(attempts->size()) + " ended attempts");
      co_return;
    }
  }
}

}  // namespace trainyard::agent
