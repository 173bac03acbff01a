#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/event.h"
#include "async/task_group.h"
#include "engine/engine.h"
#include "engine/replica_link.h"

namespace trainyard::engine {

/// What a pretended replica does once the barrier is open.
struct FakeScript {
  Status start;                           ///< what Engine::Start returns; an error starts nothing
  std::optional<ExitRecord> preparation;  ///< ends so before it is READY
  std::vector<std::string> lines;         ///< written when it runs
  std::optional<ExitRecord> exit =
      ExitRecord{};  ///< ends so after its lines (no cause: exit code 0); nothing: runs until told
};

/// Replicas that are only played, through the same Engine and ReplicaLinkObserver as real ones: for tests of
/// whoever looks after attempts. Loop thread only. Each connects, gets READY, waits for Cluster, runs its
/// script, sends its exit record, and goes when dismissed. A Stop ends it with STOPPED.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(boost::asio::any_io_executor loop);
  ~FakeEngine() override;

  /// Whom the replicas talk to; outlives the engine. Before the first Start.
  void Attach(ReplicaLinkObserver& observer) { observer_ = &observer; }
  /// Asked once for each attempt; the default script otherwise.
  void SetScript(std::function<FakeScript(const Manifest&)> script) { script_ = std::move(script); }

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest) override;
  boost::asio::awaitable<Result<Liveness>> Inspect(Manifest manifest) override;
  boost::asio::awaitable<Result<Remains>> Collect(Manifest manifest, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(Manifest manifest) override;
  boost::asio::awaitable<Status> Remove(Manifest manifest) override;

  /// Every attempt that was started, in order.
  [[nodiscard]] const std::vector<Manifest>& started() const noexcept { return started_; }
  /// Attempts that are alive.
  [[nodiscard]] std::vector<std::string> Alive() const;
  /// Ends a replica that runs.
  void End(const std::string& attempt_id, ExitRecord exit);
  /// The supervisor is killed: no record, all is gone.
  void Lose(const std::string& attempt_id);
  /// The connection is cut and comes back.
  void Reconnect(const std::string& attempt_id);

 private:
  struct Attempt;
  class Link;
  boost::asio::awaitable<void> Talk(std::shared_ptr<Attempt> attempt, std::shared_ptr<Link> link);
  void Connect(const std::shared_ptr<Attempt>& attempt);
  void Take(const std::shared_ptr<Attempt>& attempt, const ToReplica& frame);
  void Run(Attempt& attempt);
  void Finish(Attempt& attempt, ExitRecord exit);
  void Say(Attempt& attempt, replica::v1::Phase phase);
  void Vanish(const std::shared_ptr<Attempt>& attempt);
  [[nodiscard]] std::shared_ptr<Attempt> Find(const std::string& attempt_id) const;

  boost::asio::any_io_executor loop_;
  ReplicaLinkObserver* observer_ = nullptr;
  std::function<FakeScript(const Manifest&)> script_;
  OnGone on_gone_;
  std::vector<Manifest> started_;
  std::map<std::string, std::shared_ptr<Attempt>> attempts_;  // shared: its tasks and links use it
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
