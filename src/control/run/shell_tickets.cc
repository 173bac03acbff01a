#include "control/run/shell_tickets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/async/random_bytes.h"
#include "base/text/hex.h"

namespace trainyard::control {

std::string ShellTickets::Give(Shell shell, SysTime now) {
  std::erase_if(given_, [now](const auto& entry) { return entry.second.until <= now; });
  if (given_.size() >= kTicketsMax) {
    given_.erase(std::ranges::min_element(given_, {}, [&shell](const auto& entry) {
      return std::pair(entry.second.shell.principal != shell.principal, entry.second.until);
    }));
  }
  const auto bytes = RandomBytes<std::array<unsigned char, 32>>();
  std::string ticket = text::Hex(bytes.data(), bytes.size());
  given_.emplace(ticket, IssuedTicket{.shell = std::move(shell), .until = now + kLife});
  return ticket;
}

std::optional<ShellTickets::Shell> ShellTickets::Take(const std::string& ticket, SysTime now) {
  const auto found = given_.find(ticket);
  if (found == given_.end()) return std::nullopt;
  IssuedTicket given = std::move(found->second);
  given_.erase(found);
  if (given.until <= now) return std::nullopt;
  return std::move(given.shell);
}

}  // namespace trainyard::control
