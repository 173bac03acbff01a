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

/// What a simulated replica does.
struct FakeScript {
  Status start;                           ///< what AttemptHost::Start returns; an error starts nothing
  std::optional<ExitRecord> preparation;  ///< if set, it ends with this before it is READY
  std::vector<std::string> lines;         ///< output, written when it runs
  std::optional<ExitRecord> exit =
      ExitRecord{};  ///< its end after its lines (no cause: exit code 0); empty: runs until told to end
};

/// Simulates replicas behind the same AttemptHost and ReplicaLinkObserver as real ones: for tests of code
/// that manages attempts. Loop thread only. Each connects, gets READY, waits for Cluster, runs its script,
/// sends its exit record, and goes when dismissed. A Stop ends it with STOPPED.
class FakeAttemptHost final : public AttemptHost {
 public:
  explicit FakeAttemptHost(boost::asio::any_io_executor loop);
  ~FakeAttemptHost() override;

  /// Sets the observer to which the replicas talk; it outlives the host. Call it before the first Start.
  void Attach(ReplicaLinkObserver& observer) { observer_ = &observer; }
  /// Sets a function that is called once for each attempt; without one, the default script is used.
  void SetScript(std::function<FakeScript(const Manifest&)> script) { script_ = std::move(script); }

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) override;
  boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) override;
  boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() override;
  boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override;
  boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(AttemptRef attempt) override;
  boost::asio::awaitable<Status> Forget(AttemptRef attempt) override;
  /// Returns a terminal on which `cat` runs.
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                            shell::TerminalSize size) override;

  /// Every attempt that was started, in order, with the slot's part filled in.
  [[nodiscard]] const std::vector<Manifest>& started() const noexcept { return started_; }
  /// Adds an attempt of a previous server that is not simulated: Inspect and List report it until Forget.
  void Leave(const AttemptRef& attempt, AttemptState state, Holding holding = {});
  /// The node is lost: its attempts end without a record.
  void LoseNode(const std::string& node);
  /// The ids of living attempts.
  [[nodiscard]] std::vector<std::string> Alive() const;
  /// The ids of living attempts whose programs have not ended.
  [[nodiscard]] std::vector<std::string> Working() const;
  /// Ends a running replica.
  void End(const std::string& attempt_id, ExitRecord exit);
  /// Kills the supervisor: the attempt ends without a record.
  void Lose(const std::string& attempt_id);
  /// Cuts the connection; the replica reconnects.
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
  void SayEnd(Attempt& attempt);
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
  std::map<std::string, Stranger> strangers_;                 ///< attempts that Leave has added
  std::map<std::string, std::shared_ptr<Attempt>> attempts_;  // shared: its tasks and links use it
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
