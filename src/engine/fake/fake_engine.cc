#include "engine/fake/fake_engine.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace trainyard::engine {

namespace asio = boost::asio;
using replica::v1::LogChunk;
using replica::v1::Phase;

struct FakeEngine::Attempt {
  Manifest manifest;
  FakeScript script;
  Phase phase = replica::v1::PREPARING;
  std::vector<LogChunk> chunks;
  std::int64_t next_line = 0;
  std::int64_t acknowledged = 0;
  std::optional<ExitRecord> exit;
  bool alive = true;
  std::shared_ptr<Link> link;
};

/// One connection of an attempt. Frames for the observer wait in it; frames from it are handled in a turn of
/// their own.
class FakeEngine::Link final : public ReplicaLink, public std::enable_shared_from_this<Link> {
 public:
  Link(FakeEngine& engine, std::weak_ptr<Attempt> attempt)
      : wake(engine.loop_), engine_(engine), attempt_(std::move(attempt)) {}

  void Send(ToReplica frame) override {
    if (closed) return;
    asio::post(engine_.loop_, [self = shared_from_this(), frame = std::move(frame)] {
      const auto attempt = self->attempt_.lock();
      if (attempt && attempt->alive && !self->closed) self->engine_.Take(attempt, frame);
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
  FakeEngine& engine_;
  std::weak_ptr<Attempt> attempt_;
};

FakeEngine::FakeEngine(asio::any_io_executor loop) : loop_(loop), tasks_(std::move(loop)) {}
FakeEngine::~FakeEngine() = default;

std::shared_ptr<FakeEngine::Attempt> FakeEngine::Find(const std::string& attempt_id) const {
  const auto found = attempts_.find(attempt_id);
  return found == attempts_.end() ? nullptr : found->second;
}

asio::awaitable<Status> FakeEngine::Start(Manifest manifest) {
  if (Find(manifest.attempt_id())) {
    const Error again{Code::kAlreadyExists, "the attempt was started before", {}};
    co_return std::unexpected(again);
  }
  const auto attempt = std::make_shared<Attempt>();
  attempt->script = script_ ? script_(manifest) : FakeScript();
  attempt->manifest = std::move(manifest);
  if (!attempt->script.start) co_return attempt->script.start;
  attempts_[attempt->manifest.attempt_id()] = attempt;
  started_.push_back(attempt->manifest);
  asio::post(loop_, [this, attempt] {
    if (!attempt->alive) return;
    Connect(attempt);
    if (attempt->script.preparation) return Finish(*attempt, *attempt->script.preparation);
    Say(*attempt, replica::v1::READY);
  });
  co_return Status();
}

void FakeEngine::Connect(const std::shared_ptr<Attempt>& attempt) {
  attempt->link = std::make_shared<Link>(*this, attempt);
  tasks_.Spawn(Talk(attempt, attempt->link));
}

/// Hands one connection's frames to the observer, one after the other.
asio::awaitable<void> FakeEngine::Talk(std::shared_ptr<Attempt> attempt, std::shared_ptr<Link> link) {
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

void FakeEngine::Say(Attempt& attempt, Phase phase) {
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

void FakeEngine::Take(const std::shared_ptr<Attempt>& attempt, const ToReplica& frame) {
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

void FakeEngine::Run(Attempt& attempt) {
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

void FakeEngine::Finish(Attempt& attempt, ExitRecord exit) {
  if (attempt.exit) return;
  if (exit.cause() == ExitRecord::CAUSE_UNSPECIFIED) exit.set_cause(ExitRecord::EXITED);
  attempt.phase = replica::v1::ENDED;
  attempt.exit = std::move(exit);
  FromReplica frame;
  *frame.mutable_exit() = *attempt.exit;
  attempt.link->Queue(std::move(frame));
}

void FakeEngine::Vanish(const std::shared_ptr<Attempt>& attempt) {
  if (!std::exchange(attempt->alive, false)) return;
  if (attempt->link) attempt->link->Close();
  asio::post(loop_, [this, id = attempt->manifest.attempt_id()] {
    if (on_gone_) on_gone_(id);
  });
}

asio::awaitable<Result<Liveness>> FakeEngine::Inspect(Manifest manifest) {
  const auto attempt = Find(manifest.attempt_id());
  if (!attempt) co_return Liveness::kAbsent;
  if (attempt->alive) co_return Liveness::kAlive;
  co_return attempt->exit ? Liveness::kEnded : Liveness::kLost;
}

asio::awaitable<Result<Engine::Remains>> FakeEngine::Collect(Manifest manifest, std::int64_t from_line) {
  const auto attempt = Find(manifest.attempt_id());
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

asio::awaitable<Status> FakeEngine::Kill(Manifest manifest) {
  if (const auto attempt = Find(manifest.attempt_id())) Vanish(attempt);
  co_return Status();
}

asio::awaitable<Status> FakeEngine::Remove(Manifest manifest) {
  const auto attempt = Find(manifest.attempt_id());
  const Error alive = FailedPrecondition("the attempt is alive");
  if (attempt && attempt->alive) co_return std::unexpected(alive);
  attempts_.erase(manifest.attempt_id());
  co_return Status();
}

std::vector<std::string> FakeEngine::Alive() const {
  std::vector<std::string> alive;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->alive) alive.push_back(id);
  }
  return alive;
}

void FakeEngine::End(const std::string& attempt_id, ExitRecord exit) {
  if (const auto attempt = Find(attempt_id); attempt && attempt->alive) Finish(*attempt, std::move(exit));
}

void FakeEngine::Lose(const std::string& attempt_id) {
  if (const auto attempt = Find(attempt_id)) Vanish(attempt);
}

void FakeEngine::Reconnect(const std::string& attempt_id) {
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
  FromReplica frame;
  *frame.mutable_exit() = *attempt->exit;
  attempt->link->Queue(std::move(frame));
}

}  // namespace trainyard::engine
