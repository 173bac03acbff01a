#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "control/collaborators.h"
#include "stores/logs/log_store.h"
#include "trainyard/replica/v1/replica.pb.h"

/// What is done with an attempt whose supervisor has ended, or should have. Loop thread; `outside` outlives
/// the calls.
namespace trainyard::control {

/// How an attempt ends that was never started.
[[nodiscard]] replica::v1::ExitRecord NotStarted(const Collaborators& outside,
                                                 replica::v1::ExitRecord::Cause cause, std::string why);

/// After a start that failed: a supervisor that runs all the same must not meet the next attempt. Returns
/// when nothing of it lives, however long that takes; true if it did live. `on_trouble` hears what keeps it
/// from that, each time.
boost::asio::awaitable<bool> MakeSureItIsDead(const Collaborators& outside, engine::AttemptRef attempt,
                                              std::function<void(std::string)> on_trouble);

/// A supervisor that ended without being dismissed left its last lines and its exit record on disk, if it
/// could: stores the lines from the first one on that is not stored, says in the log what is or may be
/// missing, and returns the rest. An attempt that lives after all, or may, is waited for. Cause LOST when
/// there is no record or it cannot be read. end_time of the exit is set; the chunks are stored and gone.
boost::asio::awaitable<engine::AttemptHost::Remains> CollectRemains(const Collaborators& outside,
                                                                    engine::AttemptRef attempt,
                                                                    logs::LogSource source);

}  // namespace trainyard::control
