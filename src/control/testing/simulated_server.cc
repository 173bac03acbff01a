#include "control/testing/simulated_server.h"

#include <optional>
#include <tuple>
#include <utility>

#include "control/run/pause.h"
#include "control/upkeep/drain_order.h"
#include "engine/admissions.h"
#include "stores/logs/log_store.h"
#include "stores/store/journal.h"

namespace trainyard::control {

using boost::asio::awaitable;
using std::chrono::milliseconds;

namespace {

constexpr const char* kJobs = "/simulated/jobs.db";
constexpr const char* kLogs = "/simulated/logs.db";

Settings ShortPauses() {
  return {.keys = Keys::Derive("secret"),
          .stop_grace = milliseconds(5'000),
          .restart_pause = milliseconds(100),
          .retry_pause = milliseconds(100),
          .attach_wait = milliseconds(2'000),
          .dismiss_wait = milliseconds(5'000)};
}

}  // namespace

/// All objects of one server. A kill -9 ends them.
struct SimulatedServer::Life {
  std::unique_ptr<store::JobStore> writer;
  std::unique_ptr<store::JobStore> reader;
  std::unique_ptr<store::Journal> journal;
  std::unique_ptr<logs::LogStore> logs;
  std::optional<engine::Admissions> admissions;
  std::unique_ptr<engine::SimulatedAttemptHost> host;
  std::unique_ptr<JobService> service;
  std::unique_ptr<TaskGroup> calls;  ///< of clients and of supervisors
  bool has_recovered = false;
  bool has_given_up = false;
};

SimulatedServer::SimulatedServer(const Outside& outside)
    : outside_(outside), settings_(ShortPauses()), booted_(outside.around.time.TrueNow()) {
  if (!outside.room.is_this_machine())
    settings_.retry_pause = milliseconds(1'000);  // agents may be away for long
}
SimulatedServer::~SimulatedServer() = default;

bool SimulatedServer::has_recovered() const noexcept { return is_up() && life_->has_recovered; }
bool SimulatedServer::has_given_up() const noexcept { return is_up() && life_->has_given_up; }
JobService& SimulatedServer::service() { return *life_->service; }
logs::LogStore& SimulatedServer::logs() { return *life_->logs; }
store::JobStore& SimulatedServer::reader() { return *life_->reader; }
void SimulatedServer::Call(awaitable<void> work) { life_->calls->Spawn(std::move(work)); }

Collaborators SimulatedServer::CollaboratorsOf(Life& life) {
  Surroundings& around = outside_.around;
  return {.loop = around.loop.get_executor(),
          .journal = *life.journal,
          .logs = *life.logs,
          .admissions = *life.admissions,
          .hosts = outside_.room.Hosts(life.host.get()),
          .clock = around.time,
          .settings = settings_,
          .kept = {.buckets = &outside_.buckets},
          .images = {.registries = &outside_.registries},
          .jumped_since = [this](SysTime since) { return JumpedSince(since); }};
}

void SimulatedServer::Start() {
  Surroundings& around = outside_.around;
  around.story.Say("the server starts");
  auto life = std::make_unique<Life>();
  auto writer = store::JobStore::Open(kJobs);
  auto reader = writer ? store::JobStore::OpenReader(kJobs) : std::unexpected(writer.error());
  auto logs = logs::LogStore::Open(around.loop, around.time, kLogs);
  const Status room = outside_.room.Open();
  if (!reader || !logs || !room) {
    const Error& error = !reader ? reader.error() : !logs ? logs.error() : room.error();
    const std::string why = "the server does not start: " + error.message;
    outside_.room.ServerEnds();
    if (!around.disk.may_refuse()) around.story.Violate(why);
    return around.story.Say(why);
  }
  life->writer = std::move(*writer);
  life->reader = std::move(*reader);
  life->journal = std::make_unique<store::Journal>(around.loop, *life->writer, *life->reader);
  life->logs = std::move(*logs);
  engine::Admissions::Options rooms;
  rooms.rooms.push_back({.name = outside_.room.name(), .engine = outside_.room.StartEngine()});
  life->admissions.emplace(around.loop.get_executor(), std::move(rooms));
  if (outside_.room.is_this_machine()) life->host = outside_.replicas.MakeHost();
  std::ignore = JumpedSince(around.time.Now());
  life->service = std::make_unique<JobService>(CollaboratorsOf(*life), outside_.maker);
  life->calls = std::make_unique<TaskGroup>(around.loop.get_executor());
  life_ = std::move(life);
  ++lives_;
  ApplyDrain();
  Call(Recover(*life_));
}

void SimulatedServer::SetDrained(bool drained) {
  is_drained_ = drained;
  if (is_up()) ApplyDrain();
}

void SimulatedServer::ApplyDrain() {
  v1::Drain order;
  order.set_on(is_drained_);
  if (is_drained_) life_->admissions->Set(engine::Stop::kDrained, DescribeDrain(order));
  if (!is_drained_) life_->admissions->Clear(engine::Stop::kDrained);
}

void SimulatedServer::Reboot() {
  ++boots_;
  booted_ = outside_.around.time.TrueNow();
}

retention::ClockReading SimulatedServer::ReadClocks() const {
  const SimulatedTime& time = outside_.around.time;
  return {
      .wall = time.Now(), .since_boot = time.TrueNow() - booted_, .boot = "boot " + std::to_string(boots_)};
}

/// As ClockWatch, which has its history in a file.
std::chrono::nanoseconds SimulatedServer::JumpedSince(SysTime since) {
  const retention::ClockReading now = ReadClocks();
  if (!clock_history_) clock_history_ = {.last = now};
  retention::Advance(*clock_history_, now);
  return retention::JumpedSince(*clock_history_, since, now.wall);
}

/// Takes over the jobs of the previous server; then the supervisors find this one.
awaitable<void> SimulatedServer::Recover(Life& life) {
  const Status recovered = co_await life.service->Recover();
  if (!is_up() || life_.get() != &life) co_return;  // killed meanwhile
  life.has_recovered = recovered.has_value();
  life.has_given_up = !recovered;
  if (!recovered)
    co_return outside_.around.story.Say("the server cannot take over: ", recovered.error().message);
  outside_.room.ServerHasRecovered();
  for (const std::string& attempt_id : outside_.replicas.Supervised()) Call(ReconnectLater(attempt_id));
}

awaitable<void> SimulatedServer::ReconnectLater(std::string attempt_id) {
  co_await Pause(milliseconds(outside_.around.Below(3'000)));
  outside_.replicas.machine().Reconnect(attempt_id);
}

void SimulatedServer::Kill() {
  Surroundings& around = outside_.around;
  const auto turn = [&around] {
    around.loop.restart();
    around.loop.poll();
  };
  around.disk.FailAfter(0);
  around.time.SetImmediate(true);
  is_ending_ = true;  // calls that have not begun yet begin now, and are ended
  outside_.room.Disconnect();
  life_->calls.reset();
  const std::unique_ptr<Life> ending = std::move(life_);
  is_ending_ = false;
  ending->service.reset();
  outside_.replicas.machine().CutConnections();
  ending->host.reset();
  ending->admissions.reset();
  outside_.room.ServerEnds();
  turn();
  ending->logs.reset();
  ending->journal.reset();
  ending->reader.reset();
  ending->writer.reset();
  turn();
  around.time.SetImmediate(false);
}

}  // namespace trainyard::control
