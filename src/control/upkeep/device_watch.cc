#include "control/upkeep/device_watch.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/number.h"

namespace trainyard::control {

namespace {

/// The pause between two questions whether a look is done.
constexpr std::chrono::milliseconds kStep{200};

using Looked = std::optional<node::DeviceLooks::Look>;

/// Nothing: no thread could be started. The thread owns what it uses, so it may outlive everything: a call of
/// a driver whose GPU is lost may never return.
std::future<Looked> Begin(std::shared_ptr<node::DeviceLooks> looks) {
  auto promise = std::make_shared<std::promise<Looked>>();
  std::future<Looked> answer = promise->get_future();
  try {
    std::thread([promise, looks = std::move(looks)] { promise->set_value(looks->Take()); }).detach();
  } catch (const std::system_error&) {
    promise->set_value(std::nullopt);
  }
  return answer;
}

}  // namespace

DeviceWatch::DeviceWatch(boost::asio::any_io_executor loop, Dependencies parts)
    : loop_(std::move(loop)),
      parts_(std::move(parts)),
      looks_(std::make_shared<node::DeviceLooks>()),
      tasks_(loop_) {
  if (!parts_.are_declared) tasks_.Spawn(Run());
}

boost::asio::awaitable<void> DeviceWatch::Run() {
  boost::asio::steady_timer timer(loop_);
  for (;;) {
    std::future<Looked> answer = Begin(looks_);
    const auto late = std::chrono::steady_clock::now() + kEvery;
    for (bool is_late = false; answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready;) {
      if (!is_late && std::chrono::steady_clock::now() > late) {
        is_late = true;
        Take({.devices = {}, .notes = {"the driver of the accelerators does not answer"}});
      }
      timer.expires_after(kStep);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (const Looked look = answer.get()) Take(*look);
    timer.expires_after(kEvery);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

void DeviceWatch::Take(const node::DeviceLooks::Look& look) {
  for (const std::string& note : look.notes) {
    if (std::ranges::find(notes_, note) == notes_.end()) Diagnose(DiagnosticLevel::kWarning, note);
  }
  notes_ = look.notes;
  for (const placement::DevicePool::Change& change : parts_.engine.ObserveDevices(look.devices)) {
    if (change.is_new) parts_.on_new(change.device);
    Say(change);
  }
}

void DeviceWatch::Say(const placement::DevicePool::Change& change) const {
  const std::string name = change.device.type + " " + change.device.id;
  if (change.is_new) Diagnose(DiagnosticLevel::kInfo, "this machine has another accelerator: " + name);
  if (change.trouble.empty()) {
    if (!change.is_new) Diagnose(DiagnosticLevel::kInfo, name + " is healthy again: jobs get it");
    return;
  }
  const auto uid = WholeNumber<std::int64_t>(change.holder);
  JobRunner* runner = uid ? parts_.jobs.registry().Find(*uid) : nullptr;
  std::string line = name + " is out of service: " + change.trouble;
  if (runner != nullptr) line += "; the job " + runner->job().job().job_id() + " has it and goes on";
  Diagnose(DiagnosticLevel::kWarning, line);
  if (runner == nullptr) return;
  runner->Warn("The accelerator " + name + " of this job is in trouble: " + change.trouble +
               ". The job goes on; if its program fails, this may be the reason.");
}

}  // namespace trainyard::control
