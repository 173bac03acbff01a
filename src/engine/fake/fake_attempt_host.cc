#include "engine/fake/fake_attempt_host.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.h"

namespace trainyard::engine {

namespace asio = boost::asio;
using replica::v1::LogChunk;
using replica::v1::Phase;

struct FakeAttemptHost::Attempt {
  Manifest manifest;
  std::string node{};
  FakeScript script;
  Phase phase = replica::v1::PREPARING;
  std::vector<LogChunk> chunks;
  std::int64_t next_line = 0;
  std::int64_t acknowledged = 0;
  std::optional<ExitRecord> exit;
  bool alive = true;
  std::shared_ptr<Link> link;
};

/// One connection of an attempt. Frames for the observer wait in it; frames from it are handled in a separate
/// turn of the loop.
class FakeAttemptHost::Link final : public ReplicaLink, public std::enable_shared_from_this<Link> {
 public:
  Link(FakeAttemptHost& host, std::weak_ptr<Attempt> attempt)
      : wake(host.loop_), host_(host), attempt_(std::move(attempt)) {}

  void Send(ToReplica frame) override {
    if (closed) return;
    asio::post(host_.loop_, [self = shared_from_this(), frame = std::move(frame)] {
      const auto attempt = self->attempt_.lock();
      if (attempt && attempt->alive && !self->closed) self->host_.Take(attempt, frame);
    });
  }
  void Close() override {
    closed = true;
    wake.Set();
  }
  void Queue(FromReplica frame) {
    frames.push_back(std::move(frame));
    wake.Set();
  }

  std::deque<FromReplica> frames;
  Event wake;
  bool closed = false;

 private:
  FakeAttemptHost& host_;
  std::weak_ptr<Attempt> attempt_;
};

FakeAttemptHost::FakeAttemptHost(asio::any_io_executor loop) : loop_(loop), tasks_(std::move(loop)) {}
FakeAttemptHost::~FakeAttemptHost() = default;

std::shared_ptr<FakeAttemptHost::Attempt> FakeAttemptHost::Find(const std::string& attempt_id) const {
  const auto found = attempts_.find(attempt_id);
  return found == attempts_.end() ? nullptr : found->second;
}

asio::awaitable<Status> FakeAttemptHost::Start(Manifest manifest, Slot slot) {
  TY_CHECK(!manifest.has_places() && manifest.port() == 0);  // the host fills in the node's part
  manifest.set_network(slot.network());
  manifest.set_address(slot.address());
  manifest.set_port(slot.port());
  if (slot.port() == 0) {  // the host finds one, which the replica keeps
    constexpr int kFirstPort = 30'000;
    const std::string replica = std::to_string(manifest.job_uid()) + "-" + manifest.task_name();
    const int next = kFirstPort + static_cast<int>(found_ports_.size());
    manifest.set_port(found_ports_.try_emplace(replica, next).first->second);
  }
  if (slot.has_devices()) *manifest.mutable_devices() = slot.devices();
  if (Find(manifest.attempt_id())) {
    const Error again{Code::kAlreadyExists, "the attempt was started before", {}};
    co_return std::unexpected(again);
  }
  const auto attempt = std::make_shared<Attempt>();
  attempt->script = script_ ? script_(manifest) : FakeScript();
  attempt->manifest = std::move(manifest);
  attempt->node = slot.node();
  if (!attempt->script.start) co_return attempt->script.start;
  attempts_[attempt->manifest.attempt_id()] = attempt;
  started_.push_back(attempt->manifest);
  asio::post(loop_, [this, attempt] {
    if (!attempt->alive) return;
    Connect(attempt);
    if (attempt->exit) return SayEnd(*attempt);  // it was told to end before
    if (attempt->script.preparation) return Finish(*attempt, *attempt->script.preparation);
    Say(*attempt, replica::v1::READY);
  });
  co_return Status();
}

void FakeAttemptHost::Connect(const std::shared_ptr<Attempt>& attempt) {
  attempt->link = std::make_shared<Link>(*this, attempt);
  tasks_.Spawn(Talk(attempt, attempt->link));
}

/// Hands one connection's frames to the observer, one after the other.
asio::awaitable<void> FakeAttemptHost::Talk(std::shared_ptr<Attempt> attempt, std::shared_ptr<Link> link) {
  FromReplica::Hello hello;
  hello.set_attempt_id(attempt->manifest.attempt_id());
  hello.set_token(attempt->manifest.token());
  hello.set_phase(attempt->phase);
  const Status accepted = observer_->OnHello(link, hello);
  if (!accepted) co_return;
  while (!link->closed) {
    if (link->frames.empty()) {
      link->wake.Reset();
      co_await link->wake.Wait();
      continue;
    }
    FromReplica frame = std::move(link->frames.front());
    link->frames.pop_front();
    co_await observer_->OnFrame(link, attempt->manifest.attempt_id(), std::move(frame));
  }
  observer_->OnClosed(link.get(), attempt->manifest.attempt_id());
}

void FakeAttemptHost::Say(Attempt& attempt, Phase phase) {
  attempt.phase = phase;
  FromReplica frame;
  frame.mutable_phase_changed()->set_phase(phase);
  replica::v1::Endpoint& endpoint = *frame.mutable_phase_changed()->mutable_endpoint();
  *endpoint.mutable_replica() = attempt.manifest.replica();
  endpoint.set_host_name(attempt.manifest.host_name());
  endpoint.set_address(attempt.manifest.address());
  endpoint.set_port(attempt.manifest.port());
  attempt.link->Queue(std::move(frame));
}

void FakeAttemptHost::Take(const std::shared_ptr<Attempt>& attempt, const ToReplica& frame) {
  switch (frame.kind_case()) {
    case ToReplica::kLogAck: attempt->acknowledged = frame.log_ack().next_line(); return;
    case ToReplica::kCluster:
      if (attempt->phase == replica::v1::READY) Run(*attempt);
      return;
    case ToReplica::kStop: {
      ExitRecord stopped;
      stopped.set_cause(ExitRecord::STOPPED);
      stopped.set_message(frame.stop().reason());
      return Finish(*attempt, std::move(stopped));
    }
    case ToReplica::kDismiss:
      if (attempt->exit) Vanish(attempt);
      return;
    case ToReplica::KIND_NOT_SET: return;
  }
}

void FakeAttemptHost::Run(Attempt& attempt) {
  Say(attempt, replica::v1::RUNNING);
  for (const std::string& text : attempt.script.lines) {
    replica::v1::LogLines lines;
    replica::v1::LogLine& line = *lines.add_line();
    line.set_stamp(static_cast<std::uint64_t>(2 * attempt.next_line + 1));
    line.set_severity(logging::v2::LogEntry::INFO);
    line.set_text(text);
    LogChunk chunk;
    chunk.set_first_line(attempt.next_line++);
    chunk.set_line_count(1);
    chunk.set_first_stamp(line.stamp());
    chunk.set_last_stamp(line.stamp());
    chunk.set_lines(lines.SerializeAsString());
    FromReplica frame;
    *frame.mutable_log() = chunk;
    attempt.chunks.push_back(std::move(chunk));
    attempt.link->Queue(std::move(frame));
  }
  if (attempt.script.exit) Finish(attempt, *attempt.script.exit);
}

void FakeAttemptHost::Finish(Attempt& attempt, ExitRecord exit) {
  if (attempt.exit) return;
  if (exit.cause() == ExitRecord::CAUSE_UNSPECIFIED) exit.set_cause(ExitRecord::EXITED);
  attempt.phase = replica::v1::ENDED;
  attempt.exit = std::move(exit);
  if (attempt.link) SayEnd(attempt);
}

void FakeAttemptHost::SayEnd(Attempt& attempt) {
  FromReplica frame;
  *frame.mutable_exit() = *attempt.exit;
  attempt.link->Queue(std::move(frame));
}

void FakeAttemptHost::Vanish(const std::shared_ptr<Attempt>& attempt) {
  if (!std::exchange(attempt->alive, false)) return;
  if (attempt->link) attempt->link->Close();
  asio::post(loop_, [this, id = attempt->manifest.attempt_id()] {
    if (on_gone_) on_gone_(id);
  });
}

asio::awaitable<Inspection> FakeAttemptHost::Inspect(AttemptRef ref) {
  if (const auto stranger = strangers_.find(ref.id); stranger != strangers_.end())
    co_return Inspection{stranger->second.state};
  const auto attempt = Find(ref.id);
  if (!attempt) co_return Inspection{AttemptState::kAbsent};
  if (attempt->alive)
    co_return Inspection{.state = AttemptState::kAlive, .has_exit = attempt->exit.has_value()};
  co_return Inspection{attempt->exit ? AttemptState::kEnded : AttemptState::kLost};
}

asio::awaitable<Result<std::vector<AttemptRef>>> FakeAttemptHost::List() {
  std::vector<AttemptRef> found;
  for (const auto& [id, attempt] : attempts_) found.push_back({.id = id, .node = attempt->node});
  for (const auto& [id, stranger] : strangers_) {
    if (!attempts_.contains(id)) found.push_back(stranger.ref);
  }
  co_return found;
}

asio::awaitable<Result<AttemptHost::Holding>> FakeAttemptHost::HoldingOf(AttemptRef ref) {
  if (const auto stranger = strangers_.find(ref.id); stranger != strangers_.end())
    co_return stranger->second.holding;
  const auto attempt = Find(ref.id);
  const Error absent = NotFound("the attempt is not known");
  if (!attempt) co_return std::unexpected(absent);
  co_return Holding{.job_id = attempt->manifest.job_id(),
                    .devices = attempt->manifest.devices(),
                    .token = attempt->manifest.token()};
}

asio::awaitable<Result<AttemptHost::Remains>> FakeAttemptHost::Collect(AttemptRef ref,
                                                                       std::int64_t from_line) {
  const auto attempt = Find(ref.id);
  const Error alive = FailedPrecondition("the attempt is alive");
  if (attempt && attempt->alive) co_return std::unexpected(alive);
  Remains remains;
  remains.exit.set_cause(ExitRecord::LOST);
  if (attempt && attempt->exit) remains.exit = *attempt->exit;
  if (attempt) {
    for (const LogChunk& chunk : attempt->chunks) {
      if (chunk.first_line() + chunk.line_count() > from_line) remains.chunks.push_back(chunk);
    }
  }
  co_return remains;
}

asio::awaitable<Status> FakeAttemptHost::Kill(AttemptRef ref) {
  if (const auto attempt = Find(ref.id)) Vanish(attempt);
  if (const auto stranger = strangers_.find(ref.id); stranger != strangers_.end())
    stranger->second.state = AttemptState::kLost;
  co_return Status();
}

asio::awaitable<Status> FakeAttemptHost::Forget(AttemptRef ref) {
  const auto attempt = Find(ref.id);
  const auto stranger = strangers_.find(ref.id);
  const bool strange_life = stranger != strangers_.end() && stranger->second.state == AttemptState::kAlive;
  const Error alive = FailedPrecondition("the attempt is alive");
  if ((attempt && attempt->alive) || strange_life) co_return std::unexpected(alive);
  attempts_.erase(ref.id);
  strangers_.erase(ref.id);
  co_return Status();
}

asio::awaitable<Result<shell::Terminal>> FakeAttemptHost::OpenShell(AttemptRef, shell::TerminalSize size) {
  co_return shell::OpenTerminal("/bin/cat", "-", size);
}

void FakeAttemptHost::Leave(const AttemptRef& attempt, AttemptState state, Holding holding) {
  strangers_[attempt.id] = {.ref = attempt, .state = state, .holding = std::move(holding)};
}

void FakeAttemptHost::LoseNode(const std::string& node) {
  for (const auto& [id, attempt] : std::map(attempts_)) {
    if (attempt->node == node) Vanish(attempt);
  }
}

std::vector<std::string> FakeAttemptHost::Alive() const {
  std::vector<std::string> alive;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->alive) alive.push_back(id);
  }
  return alive;
}

std::vector<std::string> FakeAttemptHost::Working() const {
  std::vector<std::string> working = Alive();
  std::erase_if(working, [this](const std::string& id) { return Find(id)->exit.has_value(); });
  return working;
}

void FakeAttemptHost::End(const std::string& attempt_id, ExitRecord exit) {
  if (const auto attempt = Find(attempt_id); attempt && attempt->alive) Finish(*attempt, std::move(exit));
}

void FakeAttemptHost::Lose(const std::string& attempt_id) {
  if (const auto attempt = Find(attempt_id)) Vanish(attempt);
}

void FakeAttemptHost::Reconnect(const std::string& attempt_id) {
  const auto attempt = Find(attempt_id);
  if (!attempt || !attempt->alive) return;
  if (attempt->link) attempt->link->Close();
  Connect(attempt);
  for (const LogChunk& chunk : attempt->chunks) {
    if (chunk.first_line() + chunk.line_count() <= attempt->acknowledged) continue;
    FromReplica frame;
    *frame.mutable_log() = chunk;
    attempt->link->Queue(std::move(frame));
  }
  if (!attempt->exit) return Say(*attempt, attempt->phase);
  SayEnd(*attempt);
}

}  // namespace trainyard::engine
