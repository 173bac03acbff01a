#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "engine/attempt_host.h"
#include "engine/replica_link.h"

namespace trainyard::engine {

/// What a pretended replica does once the barrier is open.
struct FakeScript {
  Status start;                           ///< what AttemptHost::Start returns; an error starts nothing
  std::optional<ExitRecord> preparation;  ///< ends so before it is READY
  std::vector<std::string> lines;         ///< written when it runs
  std::optional<ExitRecord> exit =
      ExitRecord{};  ///< ends so after its lines (no cause: exit code 0); nothing: runs until told
};

/// Replicas that are only played, through the same AttemptHost and ReplicaLinkObserver as real ones: for
/// tests of whoever looks after attempts. Loop thread only. Each connects, gets READY, waits for Cluster,
/// runs its script, sends its exit record, and goes when dismissed. A Stop ends it with STOPPED.
class FakeAttemptHost final : public AttemptHost {
 public:
  explicit FakeAttemptHost(boost::asio::any_io_executor loop);
  ~FakeAttemptHost() override;

  /// Whom the replicas talk to; outlives the host. Before the first Start.
  void Attach(ReplicaLinkObserver& observer) { observer_ = &observer; }
  /// Asked once for each attempt; the default script otherwise.
  void SetScript(std::function<FakeScript(const Manifest&)> script) { script_ = std::move(script); }

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) override;
  boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) override;
  boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() override;
  boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override;
  boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(AttemptRef attempt) override;
  boost::asio::awaitable<Status> Forget(AttemptRef attempt) override;
  /// A terminal on which `cat` runs.
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                            shell::TerminalSize size) override;

  /// Every attempt that was started, in order, with the slot's part filled in.
  [[nodiscard]] const std::vector<Manifest>& started() const noexcept { return started_; }
  /// An attempt of a previous server, with nobody who plays it: it is what Inspect and List say, and goes by
  /// Forget.
  void Leave(const AttemptRef& attempt, AttemptState state, Holding holding = {});
  /// The nodes whose attempts live are lost: they end without a record.
  void LoseNode(const std::string& node);
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
  std::map<std::string, int> found_ports_;  ///< by replica, for slots without one
  struct Stranger {
    AttemptRef ref;
    AttemptState state;
    Holding holding;
  };
  std::map<std::string, Stranger> strangers_;                 ///< attempts that Leave put there
  std::map<std::string, std::shared_ptr<Attempt>> attempts_;  // shared: its tasks and links use it
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
