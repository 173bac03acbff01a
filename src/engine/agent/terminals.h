#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "engine/agent/uplink.h"
#include "replica/shell/session.h"

namespace trainyard::agent {

/// The shells that users have open in the slot's replica: each terminal's bytes go to a separate stream. Loop
/// thread only. The destructor ends the shells.
class Terminals {
 public:
  /// `uplink` outlives it.
  Terminals(boost::asio::any_io_executor loop, Uplink& uplink);

  /// Checks the server's name for a terminal, which becomes part of a path. kInvalidArgument: it cannot be
  /// used in one.
  [[nodiscard]] static Status CheckId(std::string_view id);

  /// Opens the stream /agent/v1/terminal/ID for the terminal. The shell ends when either of them closes.
  /// kUnavailable: the connection is gone.
  boost::asio::awaitable<Status> Add(std::string id, shell::Terminal terminal);
  /// Does nothing if the terminal is already gone.
  void Resize(const std::string& id, shell::TerminalSize size);

 private:
  boost::asio::awaitable<void> Serve(std::string id, shell::Terminal terminal,
                                     std::shared_ptr<mux::Stream> stream);

  boost::asio::any_io_executor loop_;
  Uplink& uplink_;
  std::map<std::string, UniqueFd> masters_;  ///< duplicates, for resizing
  TaskGroup tasks_;
};

}  // namespace trainyard::agent
