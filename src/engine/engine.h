#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

using replica::v1::ExitRecord;
using replica::v1::Manifest;

/// What an engine can tell of an attempt without its supervisor's help.
enum class Liveness {
  kAlive,   ///< the supervisor holds its lock
  kEnded,   ///< an exit record is there and the lock is free
  kLost,    ///< started, the lock is free, no exit record
  kAbsent,  ///< never started: no attempt directory
};

/// Starts supervisors somewhere. Loop thread only. Engines: local (processes of this machine), fake (tests);
/// slurm later. A supervisor outlives the server; nothing here ends one when the engine is destroyed.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Called when a supervisor that this engine started or adopted has ended, dismissed or not, and all of its
  /// attempt with it.
  using OnGone = std::function<void(const std::string& attempt_id)>;
  virtual void SetOnGone(OnGone on_gone) = 0;

  /// Writes the manifest and starts the attempt's supervisor. Returns once the supervisor's process exists.
  /// The attempt must be recorded as launched before: a second Start of the same attempt is kAlreadyExists.
  virtual boost::asio::awaitable<Status> Start(Manifest manifest) = 0;

  /// Whether the attempt lives. `manifest` needs places.attempt_dir only.
  virtual boost::asio::awaitable<Result<Liveness>> Inspect(Manifest manifest) = 0;

  /// The exit record and the log chunks from line `from_line` on that an ended or lost attempt left on disk.
  struct Remains {
    ExitRecord exit;  ///< cause LOST if there was no record
    std::vector<replica::v1::LogChunk> chunks;
  };
  virtual boost::asio::awaitable<Result<Remains>> Collect(Manifest manifest, std::int64_t from_line) = 0;

  /// Ends supervisor and replica by force (SIGKILL) and returns when both are gone.
  virtual boost::asio::awaitable<Status> Kill(Manifest manifest) = 0;

  /// Removes what the ended attempt left on disk (never anything in a bucket).
  virtual boost::asio::awaitable<Status> Remove(Manifest manifest) = 0;
};

}  // namespace trainyard::engine
