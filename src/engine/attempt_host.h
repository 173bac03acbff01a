#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replica/shell/session.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

using replica::v1::ExitRecord;
using replica::v1::Manifest;
using replica::v1::Slot;

/// What an attempt host can find out about an attempt without its supervisor's help.
enum class AttemptState {
  kPending,  ///< about to be started
  kAlive,    ///< the supervisor holds its lock
  kEnded,    ///< it has an exit record, its lock is free, and none of its processes lives
  kLost,     ///< it was started and left no exit record; its lock is free, none of its processes lives
  kAbsent,   ///< it was never started, or was forgotten
  kUnknown,  ///< the state cannot be determined now; do not start it again for that
};

struct Inspection {
  AttemptState state = AttemptState::kUnknown;
  std::string why{};      ///< for kUnknown: what failed
  bool has_exit = false;  ///< for kAlive: it has already written its exit record
  friend bool operator==(const Inspection&, const Inspection&) = default;
};

/// Names an attempt and the machine that it runs on.
struct AttemptRef {
  std::string id;       ///< "JOBUID-TASKNAME-ATTEMPT": rules/cluster/task_name.h
  std::string node{};   ///< Slot.node; empty: the server's own machine
  std::string agent{};  ///< Slot.agent; empty: the server itself started it
  friend bool operator==(const AttemptRef&, const AttemptRef&) = default;
};

/// Starts, inspects and ends attempts in granted slots, and keeps their results until Forget. Loop thread
/// only. Supervisors outlive the server: destroying the host ends none of them. Implementations: local (this
/// machine), remote (other machines, through their agents), fake (tests), simulated (simulations).
/// Conformance: testing/attempt_host_conformance.h. It does not use the server's memory or settings: the same
/// code also runs on other machines. docs/adr/0026-two-seams.md.
class AttemptHost {
 public:
  virtual ~AttemptHost() = default;

  /// Called when a supervisor that this host started or adopted has ended, dismissed or not, and so have all
  /// other processes of its attempt.
  using OnGone = std::function<void(const std::string& attempt_id)>;
  virtual void SetOnGone(OnGone on_gone) = 0;

  /// Fills in the node's part of the manifest, writes it and starts the attempt's supervisor. Returns once
  /// the supervisor's process exists. `manifest` has the job's part and nothing else. The caller must have
  /// recorded the attempt as launched. A second Start of the same attempt fails with kAlreadyExists.
  virtual boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) = 0;

  /// Returns the state of the attempt. A living attempt is watched from now on: OnGone is called when it
  /// ends.
  virtual boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) = 0;

  /// Every attempt of this installation that was started and not forgotten.
  virtual boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() = 0;

  /// The job of the attempt, the devices of its slot, and the token that its supervisor shows to the server.
  /// kNotFound: the attempt is not known.
  struct Holding {
    std::string job_id;
    replica::v1::Devices devices;
    std::string token{};  ///< empty: the agent is of an earlier version, which does not report it
  };
  virtual boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) = 0;

  /// What an ended or lost attempt left: its exit record and its log chunks from line `from_line` on.
  struct Remains {
    ExitRecord exit;                   ///< cause LOST if there was no record
    replica::v1::Endpoint endpoint{};  ///< the address it listened on; port 0: not known
    std::vector<replica::v1::LogChunk> chunks{};
    std::string lacks{};  ///< one sentence: which output is or may be missing; empty: none is known to be
  };
  /// kFailedPrecondition: the attempt is or may be alive.
  virtual boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) = 0;

  /// Ends supervisor and replica by force (SIGKILL) and returns when both are gone. Does nothing if the
  /// attempt does not live.
  virtual boost::asio::awaitable<Status> Kill(AttemptRef attempt) = 0;

  /// Removes the files of the ended attempt (never anything in a bucket). kFailedPrecondition: it is alive.
  /// Does nothing if the attempt is absent.
  virtual boost::asio::awaitable<Status> Forget(AttemptRef attempt) = 0;

  /// Opens a shell next to the attempt's program. If the shell cannot run, the terminal shows why.
  virtual boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                                    shell::TerminalSize size) = 0;
};

}  // namespace trainyard::engine
