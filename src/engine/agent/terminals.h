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

/// The shells that users have open in the slot's replica: each terminal's bytes go to a stream of its own.
/// Loop thread only. The destructor ends them.
class Terminals {
 public:
  /// `uplink` outlives it.
  Terminals(boost::asio::any_io_executor loop, Uplink& uplink);

  /// The server's name for a terminal: it becomes part of a path. kInvalidArgument: it cannot.
  [[nodiscard]] static Status CheckId(std::string_view id);

  /// Opens the stream /agent/v1/terminal/ID for it; the shell ends with either of them. kUnavailable: the
  /// connection is gone.
  boost::asio::awaitable<Status> Add(std::string id, shell::Terminal terminal);
  /// Nothing for one that is not there any more.
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
