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

/// What an attempt host can tell of an attempt without its supervisor's help.
enum class AttemptState {
  kPending,  ///< to be started, and not there yet
  kAlive,    ///< the supervisor holds its lock
  kEnded,    ///< an exit record is there, the lock is free, and nothing of it lives
  kLost,     ///< started, the lock is free, nothing of it lives, no exit record
  kAbsent,   ///< never started, or forgotten
  kUnknown,  ///< cannot be found out now: no reason to start it again
};

struct Inspection {
  AttemptState state = AttemptState::kUnknown;
  std::string why{};      ///< of kUnknown: what failed
  bool has_exit = false;  ///< of kAlive: its exit record is there all the same
  friend bool operator==(const Inspection&, const Inspection&) = default;
};

/// Which attempt, and where.
struct AttemptRef {
  std::string id;       ///< "JOBUID-TASKNAME-ATTEMPT": rules/cluster/attempt_id.h
  std::string node{};   ///< Slot.node; empty: the server's own machine
  std::string agent{};  ///< Slot.agent; empty: the server runs it itself
  friend bool operator==(const AttemptRef&, const AttemptRef&) = default;
};

/// Starts, inspects and ends attempts in granted slots, and keeps what they leave until it is forgotten. Loop
/// thread only. Supervisors outlive the server: nothing here ends one when the host is destroyed.
/// Implementations: local (this machine), remote (others, through their agents), fake (tests). Conformance:
/// testing/attempt_host_conformance.h.
/// It uses nothing of the server's memory or settings: the same code runs on another machine.
/// docs/adr/0026-two-seams.md.
class AttemptHost {
 public:
  virtual ~AttemptHost() = default;

  /// Called when a supervisor that this host started or adopted has ended, dismissed or not, and all of its
  /// attempt with it.
  using OnGone = std::function<void(const std::string& attempt_id)>;
  virtual void SetOnGone(OnGone on_gone) = 0;

  /// Fills in the node's part of the manifest, writes it and starts the attempt's supervisor. Returns once
  /// the supervisor's process exists. `manifest` has the job's part and nothing else. The attempt must be
  /// recorded as launched before: a second Start of the same attempt is kAlreadyExists.
  virtual boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) = 0;

  /// What became of the attempt. One that lives is watched from now on: OnGone comes at its end.
  virtual boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) = 0;

  /// Every attempt that was started and not forgotten. Attempts that are none of this installation's are left
  /// out.
  virtual boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() = 0;

  /// The job of the attempt, the devices of its slot, and the token that its supervisor shows to the server.
  /// kNotFound: nothing is known of it.
  struct Holding {
    std::string job_id;
    replica::v1::Devices devices;
    std::string token{};  ///< empty: an agent of an earlier version does not say it
  };
  virtual boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) = 0;

  /// The exit record and the log chunks from line `from_line` on that an ended or lost attempt left.
  struct Remains {
    ExitRecord exit;                   ///< cause LOST if there was no record
    replica::v1::Endpoint endpoint{};  ///< where it was to be reached; port 0: not known
    std::vector<replica::v1::LogChunk> chunks{};
    std::string
        lacks{};  ///< one sentence: what of its output is or may be missing; empty: nothing is known of
  };
  /// kFailedPrecondition: it is alive, or may be.
  virtual boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) = 0;

  /// Ends supervisor and replica by force (SIGKILL) and returns when both are gone. Nothing for an attempt
  /// that does not live.
  virtual boost::asio::awaitable<Status> Kill(AttemptRef attempt) = 0;

  /// Removes what the ended attempt left (never anything in a bucket). kFailedPrecondition: it is alive.
  /// Nothing for one that is absent.
  virtual boost::asio::awaitable<Status> Forget(AttemptRef attempt) = 0;

  /// A shell beside the attempt's program. That it does not run is what the terminal shows.
  virtual boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                                    shell::TerminalSize size) = 0;
};

}  // namespace trainyard::engine
