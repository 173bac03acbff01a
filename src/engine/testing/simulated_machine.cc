#include "engine/testing/simulated_machine.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "engine/testing/simulated_sync.h"

namespace trainyard::engine {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// An attempt's directory and processes.
struct SimulatedMachine::Attempt {
  Manifest manifest;
  std::string node;
  bool has_directory = true;
  bool has_manifest = true;
  bool is_starting = true;  ///< whoever starts it has the lock
  bool has_rest = false;    ///< its supervisor has ended, and a process that it ran has not
  bool has_container = false;
  std::shared_ptr<SimulatedSupervisor> supervisor{};  ///< shared: its handlers use it

  bool rest_runs = false;  ///< and it is one of the program
  int acknowledged = 0;    ///< lines of the program, when its supervisor ended

  [[nodiscard]] bool is_alive() const { return supervisor || has_rest; }
  /// Its program runs, or may still be started.
  [[nodiscard]] bool is_working() const {
    return supervisor ? supervisor->IsWorking() : has_rest && (rest_runs || has_container);
  }
};

namespace {

/// The replica that the attempt is one of.
std::string ReplicaOf(const std::string& attempt_id) { return attempt_id.substr(0, attempt_id.rfind('-')); }

void RemoveFiles(const std::string& folder) {
  ForgetSyncs(folder);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

constexpr int kAll = -1;

}  // namespace

SimulatedMachine::SimulatedMachine(Setup setup) : setup_(std::move(setup)), tasks_(setup_.loop) {
  fs::create_directories(setup_.folder);
}

SimulatedMachine::~SimulatedMachine() {
  for (const auto& [id, attempt] : attempts_) ForgetSyncs(DirOf(id).path);
  std::error_code ignored;
  fs::remove_all(setup_.folder, ignored);
}

replica::AttemptDir SimulatedMachine::DirOf(const std::string& attempt_id) const {
  return {setup_.folder + "/" + attempt_id};
}

SimulatedSupervisor* SimulatedMachine::Supervisor(const std::string& attempt_id) const {
  const auto found = attempts_.find(attempt_id);
  return found == attempts_.end() ? nullptr : found->second->supervisor.get();
}

void SimulatedMachine::SayFault(std::string_view fault, const std::string& attempt_id, bool ends) {
  if (watcher_ == nullptr) return;
  const std::optional<State> state = StateOf(attempt_id);
  watcher_->OnFault(fault, attempt_id, state ? NameOf(*state) : "", ends);
}

// --- Supervisors

std::shared_ptr<SimulatedConnection> SimulatedMachine::Connect(const std::string& attempt_id) {
  auto connection = std::make_shared<SimulatedConnection>(setup_.loop, random(), [this, attempt_id] {
    if (SimulatedSupervisor* const supervisor = Supervisor(attempt_id)) supervisor->Wake();
  });
  std::erase_if(connections_, [](const auto& former) { return former.expired(); });
  connections_.push_back(connection);
  tasks_.Spawn(SimulatedConnection::Serve(connection, *observer_));
  return connection;
}

/// At most one attempt of a replica may live. Its predecessor's supervisor may still wait to be dismissed.
void SimulatedMachine::CheckAlone(const std::string& attempt_id, std::string_view what) {
  if (watcher_ == nullptr) return;
  for (const auto& [id, other] : attempts_) {
    if (id != attempt_id && ReplicaOf(id) == ReplicaOf(attempt_id) && other->is_working())
      watcher_->OnViolation(attempt_id + std::string(what) + ", and " + id + " has not ended");
  }
}

void SimulatedMachine::OnLaunch(const std::string& attempt_id) {
  CheckAlone(attempt_id, " begins to run");
  attempts_[attempt_id]->has_container = true;
}

bool SimulatedMachine::RemoveContainer(const std::string& attempt_id) {
  bool& has_container = attempts_[attempt_id]->has_container;
  if (!is_engine_down_) has_container = false;
  return !has_container;
}

void SimulatedMachine::OnDone(const std::string& attempt_id) {
  asio::post(setup_.loop, [this, attempt_id, weak = attempts_[attempt_id]->supervisor->weak_from_this()] {
    if (!weak.expired() && Supervisor(attempt_id) == weak.lock().get()) EndSupervisor(attempt_id, kAll);
  });
}

/// @param promised  of the program's lines: kAll, or how many
void SimulatedMachine::EndSupervisor(const std::string& attempt_id, int promised) {
  Attempt& attempt = *attempts_[attempt_id];
  if (!attempt.supervisor) return;
  const SimulatedProcess* const process = attempt.supervisor->Process();
  const int written = process != nullptr ? process->lines_written() : 0;
  attempt.acknowledged = attempt.supervisor->lines().acknowledged();
  if (!attempt.has_directory) promised = attempt.acknowledged;
  outputs_[attempt_id] = {.written = written, .promised = promised == kAll ? written : promised};
  attempt.rest_runs = attempt.supervisor->IsWorking();
  attempt.supervisor = nullptr;
  attempt.has_rest = true;
  const auto rest = milliseconds(attempt.rest_runs && random()() % 3 == 0 ? random()() % 2'000 : 0);
  tasks_.Spawn(EndRest(attempt_id, rest));
}

/// The kernel ends the other processes of the attempt, and the host removes its container.
asio::awaitable<void> SimulatedMachine::EndRest(std::string attempt_id, milliseconds rest) {
  constexpr milliseconds kContainerPause{5'000};
  for (asio::steady_timer timer(setup_.loop, rest);; timer.expires_after(kContainerPause)) {
    co_await timer.async_wait(asio::use_awaitable);
    const auto found = attempts_.find(attempt_id);
    if (found == attempts_.end() || !found->second->has_rest) co_return;
    if (!RemoveContainer(attempt_id)) continue;
    found->second->has_rest = false;
    if (!found->second->has_directory) attempts_.erase(found);
    if (on_over_) on_over_(attempt_id);
    co_return;
  }
}

void SimulatedMachine::WakeAll() {
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->supervisor) attempt->supervisor->Wake();
  }
}

// --- What an attempt host does

Status SimulatedMachine::Make(const Manifest& manifest, const std::string& node) {
  const std::string& id = manifest.attempt_id();
  const Error again{Code::kAlreadyExists, "the attempt was started before", {}};
  if (attempts_.contains(id)) return std::unexpected(again);
  if (next_start_ == StartFault::kRefused) {
    next_start_.reset();
    SayFault("a start fails: nothing is done");
    return std::unexpected(Unavailable("the keeper does not answer"));
  }
  const Error full{Code::kResourceExhausted, "the disk is full", {}};
  if (disk_full_ && random()() % 2 == 0) return std::unexpected(full);
  fs::create_directory(DirOf(id).path);
  Attempt& attempt =
      *(attempts_[id] = std::make_unique<Attempt>(Attempt{.manifest = manifest, .node = node}));
  if (!disk_full_ && next_start_ != StartFault::kNoManifest) return {};
  if (next_start_ == StartFault::kNoManifest) next_start_.reset();
  attempt.has_manifest = attempt.is_starting = false;
  SayFault("a start fails: there is no manifest", id);
  return std::unexpected(full);
}

Status SimulatedMachine::StartSupervisor(const std::string& attempt_id) {
  const Status lost = std::unexpected(Unavailable("the keeper was killed"));
  const auto found = attempts_.find(attempt_id);
  if (found == attempts_.end() || !std::exchange(found->second->is_starting, false)) return lost;
  Attempt& attempt = *found->second;
  const std::optional<StartFault> fault = std::exchange(next_start_, std::nullopt);
  if (fault == StartFault::kNotStarted) {
    SayFault("a start fails: there is no supervisor", attempt_id);
    return lost;
  }
  if (fault == StartFault::kEndsAtOnce) {
    SayFault("a start fails: the supervisor ends at once", attempt_id, true);
    attempt.has_rest = true;
    tasks_.Spawn(EndRest(attempt_id, {}));
    return {};
  }
  CheckAlone(attempt_id, " is started");
  auto spool = replica::Spool::Create(DirOf(attempt_id).Spool());
  TY_CHECK(spool);
  attempt.supervisor = std::make_shared<SimulatedSupervisor>(
      SimulatedSupervisor::Setup{.loop = setup_.loop,
                                 .dir = DirOf(attempt_id),
                                 .manifest = attempt.manifest,
                                 .spool = std::move(*spool),
                                 .program = script_ ? script_(attempt.manifest) : SimulatedProgram()},
      static_cast<SimulatedSupervisor::Machine&>(*this));
  attempt.supervisor->Begin();
  if (fault != StartFault::kAnswerLost) return {};
  SayFault("a start fails: its answer is lost", attempt_id, true);
  return lost;
}

void SimulatedMachine::LeaveStart(const std::string& attempt_id) {
  const auto found = attempts_.find(attempt_id);
  if (found == attempts_.end() || !found->second->is_starting) return;
  switch (random()() % 3) {
    case 0: found->second->has_manifest = found->second->is_starting = false; return;
    case 1: found->second->is_starting = false; return;
    default: tasks_.Spawn(FinishStart(attempt_id));
  }
}

/// The keeper, which has the lock by now, starts the supervisor.
asio::awaitable<void> SimulatedMachine::FinishStart(std::string attempt_id) {
  asio::steady_timer timer(setup_.loop, milliseconds(random()() % 500));
  co_await timer.async_wait(asio::use_awaitable);
  static_cast<void>(StartSupervisor(attempt_id));
}

Result<AttemptState> SimulatedMachine::Look(const std::string& attempt_id) const {
  if (is_hidden_) return std::unexpected(Unavailable("too many open files"));
  const auto found = attempts_.find(attempt_id);
  if (found == attempts_.end()) return AttemptState::kAbsent;
  if (found->second->is_starting) return AttemptState::kPending;
  if (found->second->is_alive()) return AttemptState::kAlive;
  return ExitOf(attempt_id) ? AttemptState::kEnded : AttemptState::kLost;
}

std::optional<ExitRecord> SimulatedMachine::ExitOf(const std::string& attempt_id) const {
  return replica::ReadExit(DirOf(attempt_id)).value_or(std::nullopt);
}

const Manifest* SimulatedMachine::ManifestOf(const std::string& attempt_id) const {
  const auto found = attempts_.find(attempt_id);
  return found == attempts_.end() || !found->second->has_manifest ? nullptr : &found->second->manifest;
}

Result<std::vector<replica::v1::LogChunk>> SimulatedMachine::LinesOf(const std::string& attempt_id,
                                                                     std::int64_t from_line) const {
  return replica::ReadSpool(DirOf(attempt_id).Spool(), from_line);
}

std::vector<AttemptRef> SimulatedMachine::List() const {
  std::vector<AttemptRef> found;
  for (const auto& [id, attempt] : attempts_)
    if (attempt->has_directory) found.push_back({.id = id, .node = attempt->node});
  return found;
}

void SimulatedMachine::Kill(const std::string& attempt_id) {
  if (SimulatedSupervisor* const supervisor = Supervisor(attempt_id))
    EndSupervisor(attempt_id, supervisor->lines().stored());
}

void SimulatedMachine::Remove(const std::string& attempt_id) {
  RemoveFiles(DirOf(attempt_id).path);
  attempts_.erase(attempt_id);
}

void SimulatedMachine::RemoveUnread(const std::string& attempt_id) {
  Kill(attempt_id);
  const auto attempt = attempts_.find(attempt_id);
  const auto output = outputs_.find(attempt_id);
  if (attempt != attempts_.end() && output != outputs_.end())
    output->second.promised = std::min(output->second.promised, attempt->second->acknowledged);
  Remove(attempt_id);
}

// --- Faults

void SimulatedMachine::Lose(const std::string& attempt_id) {
  if (!Supervisor(attempt_id)) return;
  SayFault("supervisor killed", attempt_id, true);
  Kill(attempt_id);
}

void SimulatedMachine::KillProgram(const std::string& attempt_id) {
  SimulatedSupervisor* const supervisor = Supervisor(attempt_id);
  SimulatedProcess* const process = supervisor != nullptr ? supervisor->Process() : nullptr;
  if (process == nullptr || process->wait_status()) return;
  SayFault("program killed", attempt_id, true);
  process->Kill();
  supervisor->Wake();
}

void SimulatedMachine::Reconnect(const std::string& attempt_id) {
  if (SimulatedSupervisor* const supervisor = Supervisor(attempt_id)) {
    SayFault("connection broken", attempt_id);
    supervisor->Disconnect();
  }
}

void SimulatedMachine::Pause(const std::string& attempt_id) {
  SimulatedSupervisor* const supervisor = Supervisor(attempt_id);
  if (supervisor == nullptr || supervisor->is_paused()) return;
  SayFault("supervisor stopped", attempt_id);
  supervisor->Pause();
}

void SimulatedMachine::Continue(const std::string& attempt_id) {
  SimulatedSupervisor* const supervisor = Supervisor(attempt_id);
  if (supervisor != nullptr && supervisor->is_paused()) supervisor->Continue();
}

void SimulatedMachine::ShutDown(const std::string& attempt_id, bool everywhere) {
  if (SimulatedSupervisor* const supervisor = Supervisor(attempt_id)) {
    SayFault(everywhere ? "all processes terminated" : "supervisor terminated", attempt_id);
    supervisor->ShutDown(everywhere);
  }
}

void SimulatedMachine::RemoveDirectory(const std::string& attempt_id) {
  if (!Supervisor(attempt_id)) return;
  SayFault("directory removed", attempt_id, true);
  attempts_[attempt_id]->has_directory = attempts_[attempt_id]->has_manifest = false;
  RemoveFiles(DirOf(attempt_id).path);
  tasks_.Spawn(NoticeRemoval(attempt_id));
}

asio::awaitable<void> SimulatedMachine::NoticeRemoval(std::string attempt_id) {
  asio::steady_timer timer(setup_.loop, milliseconds(random()() % 2'000));
  co_await timer.async_wait(asio::use_awaitable);
  const auto found = attempts_.find(attempt_id);
  if (found != attempts_.end() && found->second->supervisor && !found->second->has_directory)
    found->second->supervisor->Abandon();
}

bool SimulatedMachine::End(const std::string& attempt_id, int wait_status) {
  SimulatedSupervisor* const supervisor = Supervisor(attempt_id);
  SimulatedProcess* const process = supervisor != nullptr ? supervisor->Process() : nullptr;
  if (process == nullptr || process->wait_status()) return false;
  process->End(wait_status);
  supervisor->Wake();
  return true;
}

void SimulatedMachine::SetDiskFull(bool full) {
  disk_full_ = full;
  WakeAll();
}

/// This is left of the attempt: nothing, its directory, or also its manifest; lines and exit as far as they
/// were synced.
void SimulatedMachine::CutPower(const std::string& attempt_id) {
  Attempt& attempt = *attempts_[attempt_id];
  const bool was_alive = attempt.is_alive();
  if (attempt.supervisor) {
    if (attempt.supervisor->state() < State::kEnded) SayFault("power cut", attempt_id, true);
    EndSupervisor(attempt_id, kAll);
  }
  // The lines are synced before the exit is recorded. If the supervisor was killed, they never were.
  const auto output = outputs_.find(attempt_id);
  if (output != outputs_.end() && !ExitOf(attempt_id))
    output->second.promised = std::min(output->second.promised, attempt.acknowledged);
  attempt.has_rest = attempt.has_container = attempt.is_starting = false;
  if (!attempt.has_directory) return Remove(attempt_id);
  LoseUnsynced(DirOf(attempt_id).path, random());
  if (!ExitOf(attempt_id)) {
    const auto left = random()() % 4;
    if (left == 0) return Remove(attempt_id);
    if (left == 1) attempt.has_manifest = false;
  }
  if (was_alive && on_over_) on_over_(attempt_id);
}

void SimulatedMachine::PowerCut() {
  std::vector<std::string> ids;
  for (const auto& [id, attempt] : attempts_) ids.push_back(id);
  for (const std::string& id : ids) CutPower(id);
}

void SimulatedMachine::LoseNode(const std::string& node) {
  for (const AttemptRef& ref : List()) {
    Attempt& attempt = *attempts_[ref.id];
    if (ref.node != node || !attempt.is_alive()) continue;
    Lose(ref.id);
    attempt.has_rest = attempt.has_container = false;
    if (on_over_) on_over_(ref.id);
  }
}

void SimulatedMachine::CutConnections() {
  for (const auto& weak : connections_) {
    if (const auto connection = weak.lock()) connection->Close();
  }
}

void SimulatedMachine::Calm() {
  SetDiskFull(false);
  is_short_ = false;
  is_engine_down_ = is_hidden_ = false;
  next_start_.reset();
  for (const auto& [id, attempt] : attempts_) Continue(id);
}

// --- What there is

std::vector<std::string> SimulatedMachine::Alive() const {
  std::vector<std::string> alive;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->is_alive()) alive.push_back(id);
  }
  return alive;
}

std::vector<std::string> SimulatedMachine::Working() const {
  std::vector<std::string> working;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->is_working()) working.push_back(id);
  }
  return working;
}

std::optional<SimulatedMachine::State> SimulatedMachine::StateOf(const std::string& attempt_id) const {
  const SimulatedSupervisor* const supervisor = Supervisor(attempt_id);
  return supervisor != nullptr ? std::optional(supervisor->state()) : std::nullopt;
}

bool SimulatedMachine::IsPaused(const std::string& attempt_id) const {
  const SimulatedSupervisor* const supervisor = Supervisor(attempt_id);
  return supervisor != nullptr && supervisor->is_paused();
}

}  // namespace trainyard::engine
