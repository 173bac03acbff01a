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
/// Larger sizes are taken for mistakes.
inline constexpr int kTerminalSideMax = 10'000;

/// The server's side of a shell in a replica, on this machine or another one.
struct Terminal {
  /// The terminal, not blocking: its master side, or a socket connected to it. Once the shell has ended,
  /// reading fails (EIO) or returns the end.
  UniqueFd master;
  std::optional<ChildProcess> process{};            ///< absent: it runs on another machine
  std::function<void(TerminalSize size)> resize{};  ///< for a shell on another machine; null: Resize(master)
  /// Tells the exit status of a shell on another machine, once it has ended; null, or nullopt: it is unknown.
  std::function<boost::asio::awaitable<std::optional<int>>()> status{};
};

/// Starts `program replica-shell ATTEMPT_DIR` on a new terminal. If there is no such running replica, the
/// terminal shows that.
[[nodiscard]] Result<Terminal> OpenTerminal(const std::string& program, const std::string& attempt_dir,
                                            TerminalSize size);

/// The exit status as shells count it: 128 and the signal, if that ended the process.
[[nodiscard]] int StatusOf(const ExitStatus& ended);

/// Sets the terminal's size, of which its programs are notified (SIGWINCH). Sizes outside 1 to
/// kTerminalSideMax are ignored.
void Resize(int master, TerminalSize size);

/// Connects a WebSocket to a terminal until either ends. Binary messages are bytes of the terminal, in both
/// directions; a text message "ROWS COLUMNS" from the client sets the window size. When the shell ends, the
/// server closes with code 1000 and the reason "exit N", if its exit status is known. If the client
/// disconnects, the shell is ended. Loop thread only.
boost::asio::awaitable<void> RunSession(Terminal terminal, std::shared_ptr<http::ByteStream> stream);

}  // namespace trainyard::shell
