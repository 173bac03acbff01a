#pragma once

/// Why a job loses its room, or will never get any. docs/lifecycle.md. A value; any thread.
namespace trainyard::placement {

enum class RoomEnd {
  kLost,         ///< a node is gone, or what ran there
  kPreempted,    ///< others need it
  kTimeLimit,    ///< the cluster's limit for running
  kDeadline,     ///< it waited for too long
  kOutOfMemory,  ///< the cluster ended it for memory
  kCancelled,    ///< somebody ended it in the cluster
};

}  // namespace trainyard::placement
