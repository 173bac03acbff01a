#include "engine/testing/simulated_attempt_host.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/check.h"
#include "base/wire/time.h"

namespace trainyard::engine {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

// As LocalAttemptHost.
constexpr milliseconds kLockPause{5};
constexpr milliseconds kKillWait{5'000};
constexpr milliseconds kKillWaitMax{15'000};
constexpr const char* kStuckMessage = "the replica's processes do not end although they were killed";

/// However the start ends.
class StartInProgress {
 public:
  StartInProgress(SimulatedMachine& machine, std::string attempt_id)
      : machine_(machine), attempt_id_(std::move(attempt_id)) {}
  ~StartInProgress() { machine_.LeaveStart(attempt_id_); }
  StartInProgress(const StartInProgress&) = delete;
  StartInProgress& operator=(const StartInProgress&) = delete;

 private:
  SimulatedMachine& machine_;
  std::string attempt_id_;
};

replica::v1::Endpoint EndpointOf(const Manifest& manifest) {
  replica::v1::Endpoint endpoint;
  *endpoint.mutable_replica() = manifest.replica();
  endpoint.set_host_name(manifest.host_name());
  endpoint.set_address(manifest.address());
  endpoint.set_port(manifest.port());
  return endpoint;
}

Manifest WithNodePart(Manifest manifest, const Slot& slot) {
  TY_CHECK(!manifest.has_places() && manifest.port() == 0);  // the host fills in the node's part
  manifest.set_network(slot.network());
  manifest.set_address(slot.address());
  manifest.set_port(slot.port());
  if (slot.port() == 0) {  // the host finds one, which the replica keeps
    constexpr int kFirstPort = 30'000;
    constexpr int kReplicasMax = 16;
    const auto job = static_cast<int>(manifest.job_uid() % 1'000);
    const int replica = (4 * manifest.replica().type() + manifest.replica().index()) % kReplicasMax;
    manifest.set_port(kFirstPort + kReplicasMax * job + replica);
  }
  if (slot.has_devices()) *manifest.mutable_devices() = slot.devices();
  return manifest;
}

}  // namespace

SimulatedAttemptHost::SimulatedAttemptHost(asio::any_io_executor loop, SimulatedMachine& machine)
    : loop_(loop), machine_(machine), tasks_(std::move(loop)) {
  machine_.SetOnOver([this](const std::string& attempt_id) { OnOver(attempt_id); });
}

SimulatedAttemptHost::~SimulatedAttemptHost() { machine_.SetOnOver(nullptr); }

/// The work of a pool's thread takes a while.
asio::awaitable<void> SimulatedAttemptHost::Turn() {
  const auto chance = machine_.random()() % 8;
  if (chance != 0) co_return co_await asio::post(loop_, asio::use_awaitable);
  asio::steady_timer timer(loop_, milliseconds(machine_.random()() % 30));
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<Status> SimulatedAttemptHost::Start(Manifest manifest, Slot slot) {
  manifest = WithNodePart(std::move(manifest), slot);
  const std::string id = manifest.attempt_id();
  co_await Turn();
  TY_CO_RETURN_IF_ERROR(machine_.Make(manifest, slot.node()));
  const StartInProgress in_progress(machine_, id);
  co_await Turn();
  TY_CO_RETURN_IF_ERROR(machine_.StartSupervisor(id));
  watched_.insert(id);
  co_return Status();
}

/// True once the whole attempt has ended; false after `wait_max`.
asio::awaitable<Result<bool>> SimulatedAttemptHost::WaitUntilOver(std::string attempt_id,
                                                                  milliseconds wait_max) {
  asio::steady_timer timer(loop_);
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  for (milliseconds pause = kLockPause;; pause += pause / 4) {
    TY_CO_TRY(const AttemptState state, machine_.Look(attempt_id));
    if (state != AttemptState::kAlive && state != AttemptState::kPending) co_return true;
    if (std::chrono::steady_clock::now() >= deadline) co_return false;
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<Inspection> SimulatedAttemptHost::Inspect(AttemptRef attempt) {
  co_await Turn();
  const Result<AttemptState> state = machine_.Look(attempt.id);
  if (!state) co_return Inspection{AttemptState::kUnknown, state.error().message};
  if (*state != AttemptState::kAlive) co_return Inspection{*state};
  if (!machine_.StateOf(attempt.id)) {  // what is left of it ends soon
    const Result<bool> over = co_await WaitUntilOver(attempt.id, kKillWait);
    if (!over || !*over) co_return Inspection{AttemptState::kUnknown, kStuckMessage};
    co_return Inspection{machine_.ExitOf(attempt.id) ? AttemptState::kEnded : AttemptState::kLost};
  }
  watched_.insert(attempt.id);
  co_await Turn();
  co_return Inspection{.state = *state, .has_exit = machine_.ExitOf(attempt.id).has_value()};
}

asio::awaitable<Result<std::vector<AttemptRef>>> SimulatedAttemptHost::List() {
  co_await Turn();
  co_return machine_.List();
}

asio::awaitable<Result<AttemptHost::Holding>> SimulatedAttemptHost::HoldingOf(AttemptRef attempt) {
  co_await Turn();
  const Error absent = NotFound("the attempt has no manifest");
  const Manifest* const manifest = machine_.ManifestOf(attempt.id);
  if (manifest == nullptr) co_return std::unexpected(absent);
  co_return Holding{.job_id = manifest->job_id(), .devices = manifest->devices(), .token = manifest->token()};
}

Status SimulatedAttemptHost::RefuseAlive(const std::string& attempt_id) const {
  const Result<AttemptState> state = machine_.Look(attempt_id);
  if (!state)
    return std::unexpected(FailedPrecondition("the attempt may be alive: " + state.error().message));
  if (*state == AttemptState::kAlive || *state == AttemptState::kPending)
    return std::unexpected(FailedPrecondition("the attempt is alive"));
  return {};
}

asio::awaitable<Result<AttemptHost::Remains>> SimulatedAttemptHost::Collect(AttemptRef attempt,
                                                                            std::int64_t from_line) {
  co_await Turn();
  TY_CO_RETURN_IF_ERROR(RefuseAlive(attempt.id));
  Remains remains;
  if (std::optional<ExitRecord> exit = machine_.ExitOf(attempt.id)) {
    remains.exit = *std::move(exit);
  } else {
    remains.exit.set_cause(ExitRecord::LOST);
    remains.exit.set_message("the replica's supervisor ended without an exit record");
    *remains.exit.mutable_end_time() = wire::ToProto(SysTime(std::chrono::system_clock::now()));
    remains.lacks = "The supervisor of this replica was killed or lost: its last output may be missing.";
  }
  if (const Manifest* const manifest = machine_.ManifestOf(attempt.id))
    remains.endpoint = EndpointOf(*manifest);
  auto chunks = machine_.LinesOf(attempt.id, from_line);
  if (chunks) {
    remains.chunks = *std::move(chunks);
  } else {
    remains.lacks = "The last output of this replica cannot be read: " + chunks.error().message + ".";
  }
  co_return remains;
}

asio::awaitable<Status> SimulatedAttemptHost::Kill(AttemptRef attempt) {
  co_await Turn();
  machine_.Kill(attempt.id);
  TY_CO_TRY(const bool killed, co_await WaitUntilOver(attempt.id, kKillWait));
  if (killed) co_return Status();
  machine_.Kill(attempt.id);  // it was about to be started
  TY_CO_TRY(const bool over, co_await WaitUntilOver(attempt.id, kKillWaitMax));
  const Error stuck{Code::kDeadlineExceeded, kStuckMessage, {}};
  if (!over) co_return std::unexpected(stuck);
  co_return Status();
}

asio::awaitable<Status> SimulatedAttemptHost::Forget(AttemptRef attempt) {
  co_await Turn();
  TY_CO_RETURN_IF_ERROR(RefuseAlive(attempt.id));
  machine_.Remove(attempt.id);
  co_return Status();
}

asio::awaitable<Result<shell::Terminal>> SimulatedAttemptHost::OpenShell(AttemptRef,
                                                                         shell::TerminalSize size) {
  co_return shell::OpenTerminal("/bin/cat", "-", size);
}

void SimulatedAttemptHost::OnOver(const std::string& attempt_id) {
  if (watched_.erase(attempt_id) > 0) tasks_.Spawn(SayGone(attempt_id));
}

asio::awaitable<void> SimulatedAttemptHost::SayGone(std::string attempt_id) {
  co_await Turn();
  if (on_gone_) on_gone_(attempt_id);
}

}  // namespace trainyard::engine
