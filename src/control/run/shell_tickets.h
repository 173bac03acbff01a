#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/wire/resource_name.h"

namespace trainyard::control {

/// A ticket opens one shell once, for a client that cannot send a token: a browser's WebSocket. Kept in
/// memory: not valid after a restart. Loop thread only.
class ShellTickets {
 public:
  static constexpr std::chrono::seconds kLife{30};
  static constexpr std::size_t kTicketsMax =
      1'000;  ///< beyond it the same principal's oldest ticket is dropped

  struct Shell {
    wire::JobName job;
    std::string task_name;
    std::string principal{};  ///< the principal that asked for the ticket
    /// Whether that principal may still open a shell.
    std::function<boost::asio::awaitable<bool>()> still_may;
  };

  /// 64 hex digits of the kernel's random bytes.
  [[nodiscard]] std::string Give(Shell shell, SysTime now);
  /// The shell that the ticket opens, once; nothing: it was used, has expired, or never existed.
  [[nodiscard]] std::optional<Shell> Take(const std::string& ticket, SysTime now);

 private:
  struct IssuedTicket {
    Shell shell;
    SysTime until;
  };
  std::map<std::string, IssuedTicket> given_;
};

}  // namespace trainyard::control
