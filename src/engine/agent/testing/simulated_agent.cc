#include "engine/agent/testing/simulated_agent.h"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/wire/time.h"
#include "engine/agent/slot_end.h"
#include "net/http/deadline.h"

namespace trainyard::agent {

using boost::asio::awaitable;
using boost::asio::experimental::awaitable_operators::operator&&;
using boost::asio::experimental::awaitable_operators::operator||;
using engine::AttemptHost;
using engine::AttemptRef;
using std::chrono::milliseconds;
using v1::FromAgent;
using v1::ToAgent;

namespace {

awaitable<void> Pause(milliseconds duration) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, duration);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

}  // namespace

/// The agent's part of all attempts.
class SimulatedAgent::Attempts final : public AttemptHost {
 public:
  Attempts(SimulatedAgent& agent, AttemptHost& all) : agent_(agent), all_(all) {}

  void SetOnGone(OnGone) override {}
  awaitable<Status> Start(engine::Manifest manifest, engine::Slot slot) override {
    const std::string id = manifest.attempt_id();
    const Error dead = Unavailable("the agent is dead");
    if (agent_.over_) co_return std::unexpected(dead);
    agent_.world_.OnStart(agent_);
    agent_.attempts_.insert(id);
    co_return co_await all_.Start(std::move(manifest), std::move(slot));
  }
  awaitable<engine::Inspection> Inspect(AttemptRef attempt) override {
    if (!agent_.Has(attempt.id)) co_return engine::Inspection{engine::AttemptState::kAbsent};
    co_return co_await all_.Inspect(std::move(attempt));
  }
  awaitable<Result<std::vector<AttemptRef>>> List() override {
    TY_CO_TRY(std::vector<AttemptRef> own, co_await all_.List());
    std::erase_if(own, [this](const AttemptRef& attempt) { return !agent_.Has(attempt.id); });
    co_return own;
  }
  awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override {
    return all_.HoldingOf(std::move(attempt));
  }
  awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override {
    return all_.Collect(std::move(attempt), from_line);
  }
  awaitable<Status> Kill(AttemptRef attempt) override { return all_.Kill(std::move(attempt)); }
  awaitable<Status> Forget(AttemptRef attempt) override {
    const std::string id = attempt.id;
    const Status forgotten = co_await all_.Forget(std::move(attempt));
    if (forgotten) agent_.attempts_.erase(id);
    agent_.changed_.Set();
    co_return forgotten;
  }
  awaitable<Result<shell::Terminal>> OpenShell(AttemptRef, shell::TerminalSize) override {
    co_return std::unexpected(Unavailable("a simulated agent opens no shells"));
  }

 private:
  SimulatedAgent& agent_;
  AttemptHost& all_;
};

SimulatedAgent::SimulatedAgent(boost::asio::any_io_executor loop, World& world, Uplink& uplink, Place place)
    : loop_(loop),
      world_(world),
      place_(std::move(place)),
      changed_(loop),
      ending_(loop),
      done_(loop),
      host_(std::make_unique<Attempts>(*this, world.replicas())),
      terminals_(loop, uplink),
      requests_(loop, *host_, terminals_) {}

SimulatedAgent::~SimulatedAgent() = default;

awaitable<void> SimulatedAgent::Run() {
  const auto self = shared_from_this();
  co_await Pause(milliseconds(world_.Below(400)));
  co_await (StayConnected() && EndInOrder());
  while (requests_.starts_under_way() > 0) co_await Pause(milliseconds(10));
  for (const std::string& attempt_id : Living()) world_.Kill(attempt_id);
}

awaitable<void> SimulatedAgent::StayConnected() {
  milliseconds pause = kConnectPauseMin;
  while (!over_) {
    const bool is_reachable = world_.clock().Now() >= unreachable_until_;
    is_silent_ = false;
    line_ = is_reachable ? world_.Connect(place_.node) : nullptr;
    if (line_) {
      mux::Session session(loop_, line_->TakeEnd(0), mux::Session::Side::kOpens, {});
      co_await Serve(session);
      pause = kConnectPauseMin;
    }
    line_.reset();
    if (over_ || is_leaving_) break;
    co_await done_.WaitFor(pause / 2 + milliseconds(world_.Below(100)));
    pause = std::min(2 * pause, kConnectPauseMax);
  }
  done_.Set();
}

awaitable<void> SimulatedAgent::Serve(mux::Session& session) {
  const auto run = [](mux::Session& one) -> awaitable<void> { co_await one.Run(); };
  co_await (run(session) && Talk(session));
}

awaitable<FromAgent::Hello> SimulatedAgent::MakeHello() {
  FromAgent::Hello hello;
  hello.set_protocol(v1::PROTOCOL_1);
  hello.set_ticket(place_.ticket);
  hello.set_slot(place_.slot);
  hello.set_instance(place_.instance);
  v1::Node& node = *hello.mutable_node();
  node.set_name(place_.node);
  node.set_host_name(place_.node);
  node.set_address("192.0.2." + place_.node.substr(place_.node.size() - 1));
  node.set_port(20'000);
  node.set_cpus(4);
  node.set_memory_bytes(std::int64_t{64} << 30);
  node.add_pythons("3.11.2");
  requests_.SetPlace({.address = node.address(), .port = node.port()});
  const std::vector<v1::AttemptFound> found = co_await requests_.FindAll();
  for (const v1::AttemptFound& one : found) *hello.add_attempts() = one;
  co_return hello;
}

awaitable<void> SimulatedAgent::Talk(mux::Session& session) {
  struct CloseAtEnd {
    mux::Session& session;
    ~CloseAtEnd() { session.Close(); }
  };
  const CloseAtEnd close{session};
  const std::shared_ptr<mux::Stream> stream = session.Open("/agent/v1/control");
  if (!stream) co_return;
  const auto control = std::make_shared<ControlStream>(loop_, stream);
  FromAgent hello;
  *hello.mutable_hello() = co_await MakeHello();
  world_.OnHello(*this);
  control->Send(hello);
  const auto listen = [](SimulatedAgent& self, mux::Session& one, Control to) -> awaitable<void> {
    co_await self.Listen(to);
    to->End();
    one.Close();
  };
  co_await (control->SendAll() && listen(*this, session, control));
}

awaitable<void> SimulatedAgent::Listen(Control control) {
  http::Deadline deadline(loop_, [this] { CutLine(); });
  deadline.Set(kConnectWaitMax);
  Result<ToAgent> frame = co_await control->Next();
  deadline.Clear();
  if (!frame || over_) co_return;
  if (frame->has_refused()) {
    world_.OnRefused(*this, frame->refused().reason());
    co_return Kill();
  }
  if (!frame->has_welcome()) co_return;
  control_ = control;
  world_.OnWelcome(*this);
  TellEnd();
  changed_.Set();
  ReconnectSupervisors();
  while (frame = co_await control->Next(), frame) Take(*std::move(frame), control);
  control_ = nullptr;
  ReconnectSupervisors();
}

/// Their connections are part of the agent's.
void SimulatedAgent::ReconnectSupervisors() {
  for (const std::string& attempt_id : Living()) world_.Reconnect(attempt_id);
}

std::vector<std::string> SimulatedAgent::Living() const {
  std::vector<std::string> living = world_.Alive();
  std::erase_if(living, [this](const std::string& id) { return !Has(id); });
  return living;
}

void SimulatedAgent::Take(ToAgent frame, const Control& control) {
  if (frame.has_request()) requests_.Serve(std::move(*frame.mutable_request()), control);
  if (frame.has_release())
    Begin({.reason = frame.release().reason(), .is_told = false, .deadline = SysTime::max()});
}

void SimulatedAgent::OnAttemptGone(const std::string& attempt_id) {
  FromAgent frame;
  frame.mutable_gone()->set_attempt_id(attempt_id);
  if (control_) control_->Send(frame);
  changed_.Set();
}

void SimulatedAgent::EndSlot(bool is_time_limit, milliseconds grace) {
  Begin({.reason = is_time_limit ? "the time limit is near" : "the cluster ends the slot",
         .is_time_limit = is_time_limit,
         .deadline = world_.clock().Now() + grace});
}

void SimulatedAgent::Begin(End end) {
  if (over_) return;
  requests_.RefuseStarts("the slot is ending: " + end.reason);
  if (end_) {
    end_->deadline = std::min(end_->deadline, end.deadline);
  } else {
    end_ = std::make_unique<End>(std::move(end));
    TellEnd();
  }
  ending_.Set();
  changed_.Set();
}

void SimulatedAgent::TellEnd() {
  if (!end_ || !end_->is_told || !control_) return;
  FromAgent frame;
  frame.mutable_ending()->set_reason(end_->reason);
  frame.mutable_ending()->set_time_limit(end_->is_time_limit);
  control_->Send(frame);
}

milliseconds SimulatedAgent::Rest() const {
  const auto rest = std::chrono::duration_cast<milliseconds>(end_->deadline - world_.clock().Now());
  return std::clamp(rest, milliseconds(0), milliseconds(std::chrono::hours(1)));
}

/// As agent::SlotEnd, whose supervisors are processes.
awaitable<void> SimulatedAgent::EndInOrder() {
  co_await ending_.Wait();
  if (!over_) co_await StopAttempts();
  if (!over_) co_await HandOver();
  if (!over_) co_await Finish();
  Kill();
}

awaitable<void> SimulatedAgent::StopAttempts() {
  std::set<std::string> told;
  while (!over_) {
    co_await Pause(milliseconds(1 + world_.Below(200)));
    changed_.Reset();
    const std::vector<std::string> living = Living();
    if (living.empty() && requests_.starts_under_way() == 0) co_return;
    if (Rest() == milliseconds(0)) co_return;
    for (const std::string& attempt_id : living)
      if (told.insert(attempt_id).second) world_.ShutDown(attempt_id);
    co_await changed_.WaitFor(std::min<milliseconds>(Rest(), std::chrono::seconds(1)));
  }
}

awaitable<void> SimulatedAgent::HandOver() {
  while (!over_ && !attempts_.empty()) {
    changed_.Reset();
    const bool is_connected = is_welcome();
    const milliseconds wait_max = is_connected ? std::min<milliseconds>(Rest(), kHandOverMax) : Rest();
    const bool is_news = co_await changed_.WaitFor(wait_max);
    if (!is_news && (is_connected || Rest() == milliseconds(0))) co_return;
  }
}

awaitable<void> SimulatedAgent::Finish() {
  constexpr milliseconds kFinishMax{2'000};
  const Control control = control_;
  if (!control || !co_await control->Flush(kFinishMax)) co_return;
  is_leaving_ = true;
  control->CloseWrite();
  co_await done_.WaitFor(kFinishMax);
}

void SimulatedAgent::Kill() {
  if (std::exchange(over_, true)) return;
  for (const std::string& attempt_id : Living()) world_.Kill(attempt_id);
  CutLine();
  done_.Set();
  ending_.Set();
  changed_.Set();
}

void SimulatedAgent::CutLine() {
  if (line_) line_->Cut();
}

void SimulatedAgent::FallSilent(milliseconds duration) {
  unreachable_until_ = world_.clock().Now() + duration;
  if (!line_) return;
  line_->FallSilent();
  is_silent_ = true;
  ReconnectSupervisors();
}

}  // namespace trainyard::agent
