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

/// Opens one shell once, for who cannot send a token: a browser's WebSocket. Kept in memory: it is worth
/// nothing after a restart. Loop thread only.
class ShellTickets {
 public:
  static constexpr std::chrono::seconds kLife{30};
  static constexpr std::size_t kTicketsMax =
      1'000;  ///< then the oldest of who asks is worth nothing any more

  struct Shell {
    wire::JobName job;
    std::string task_name;
    std::string principal{};  ///< who asks
    /// Whether who got the ticket may still have a shell.
    std::function<boost::asio::awaitable<bool>()> still_may;
  };

  /// 64 hex digits of the kernel's randomness.
  [[nodiscard]] std::string Give(Shell shell, SysTime now);
  /// What the ticket opens, once; nothing: it was used, its time is over, or it never was one.
  [[nodiscard]] std::optional<Shell> Take(const std::string& ticket, SysTime now);

 private:
  struct Given {
    Shell shell;
    SysTime until;
  };
  std::map<std::string, Given> given_;
};

}  // namespace trainyard::control
