#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/unique_fd.h"
#include "base/process/child_process.h"
#include "base/result.h"
#include "net/http/message.h"

namespace trainyard::shell {

struct TerminalSize {
  int rows = 24;
  int columns = 80;
};
/// Larger sizes are mistakes.
inline constexpr int kTerminalSideMax = 10'000;

/// A shell in a replica, seen from the server: here, or on another machine.
struct Terminal {
  /// The terminal's bytes, not blocking: its master side, or a socket that leads to it. Once the shell has
  /// ended reading fails (EIO), or ends.
  UniqueFd master;
  std::optional<ChildProcess> process{};  ///< nothing: it runs elsewhere, and how it ended is not known here
  std::function<void(TerminalSize size)> resize{};  ///< of a shell elsewhere; null: Resize(master)
};

/// Starts `program replica-shell ATTEMPT_DIR` on a terminal of its own. That there is no such running replica
/// is what the terminal shows.
[[nodiscard]] Result<Terminal> OpenTerminal(const std::string& program, const std::string& attempt_dir,
                                            TerminalSize size);

/// Tells the programs in the terminal (SIGWINCH). Sizes beyond 1 to kTerminalSideMax are ignored.
void Resize(int master, TerminalSize size);

/// A WebSocket on a terminal, until either ends. Binary messages are bytes of the terminal, both ways; a text
/// message "ROWS COLUMNS" from the client is its window's size. When the shell ends the server closes with
/// code 1000 and the reason "exit N", if that is known here. A client that goes away ends the shell. Loop
/// thread only.
boost::asio::awaitable<void> RunSession(Terminal terminal, std::shared_ptr<http::ByteStream> stream);

}  // namespace trainyard::shell
