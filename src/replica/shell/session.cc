#include "replica/shell/session.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "replica/shell/websocket.h"

namespace trainyard::shell {

namespace {

namespace asio = boost::asio;
using Kind = WebSocketMessage::Kind;

constexpr std::size_t kReadBytes = 16 << 10;

std::optional<TerminalSize> ParseSize(std::string_view text) {
  TerminalSize size;
  const char* end = text.data() + text.size();
  const auto rows = std::from_chars(text.data(), end, size.rows);
  if (rows.ec != std::errc() || rows.ptr == end || *rows.ptr != ' ') return std::nullopt;
  const auto columns = std::from_chars(rows.ptr + 1, end, size.columns);
  if (columns.ec != std::errc() || columns.ptr != end) return std::nullopt;
  return size;
}

/// Both directions of one session; they share the stream's writing side, one write at a time. The destructor
/// ends the shell: it closes the terminal, and kills the process that started the shell.
class Session {
 public:
  Session(asio::any_io_executor loop, Terminal terminal, std::shared_ptr<http::ByteStream> stream)
      : terminal_(loop, terminal.master.Release()),
        process_(std::move(terminal.process)),
        resize_(std::move(terminal.resize)),
        status_(std::move(terminal.status)),
        stream_(std::move(stream)),
        may_write_(loop) {
    may_write_.Set();
  }

  /// Sends the terminal's output until its programs have ended or the client has disconnected.
  asio::awaitable<void> ShowOutput() {
    std::array<char, kReadBytes> buffer{};
    for (;;) {
      boost::system::error_code error;
      const std::size_t size = co_await terminal_.async_read_some(
          asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
      if (error) break;  // EIO: no process has the terminal open any more
      std::string frame = WebSocketFrame(Kind::kBinary, {buffer.data(), size});
      if (!co_await Write(std::move(frame))) co_return;
    }
    const std::string reason = "\x03\xE8" + co_await HowItEnded();  // 1000
    co_await Write(WebSocketFrame(Kind::kClose, reason));
    stream_->Close();
  }

  /// Passes on the client's input until it disconnects.
  asio::awaitable<void> TakeInput() {
    WebSocketReader reader(WebSocketReader::Peer::kClient);
    std::array<std::byte, kReadBytes> buffer{};
    for (;;) {
      Result<std::optional<WebSocketMessage>> message = reader.Next();
      if (!message) {
        co_await Write(WebSocketFrame(Kind::kClose, "\x03\xEA" + message.error().message));  // 1002
        co_return;
      }
      if (*message) {
        if (!co_await Take(*std::move(*message))) co_return;
        continue;
      }
      const Result<std::size_t> size = co_await stream_->ReadSome(buffer);
      if (!size || *size == 0) co_return;
      reader.Feed({reinterpret_cast<const char*>(buffer.data()), *size});
    }
  }

 private:
  /// "exit 3"; empty: the exit status is not known.
  asio::awaitable<std::string> HowItEnded() {
    std::optional<int> status;
    if (process_) {
      const Result<ExitStatus> ended = co_await process_->Wait();
      if (ended) status = StatusOf(*ended);
    } else if (status_) {
      status = co_await status_();
    }
    co_return status ? "exit " + std::to_string(*status) : "";
  }

  void SetSize(TerminalSize size) {
    if (resize_) return resize_(size);
    Resize(terminal_.native_handle(), size);
  }

  /// False: the session has ended.
  asio::awaitable<bool> Take(WebSocketMessage message) {
    switch (message.kind) {
      case Kind::kText:
        if (const auto size = ParseSize(message.payload)) SetSize(*size);
        co_return true;
      case Kind::kBinary: {
        boost::system::error_code error;
        co_await asio::async_write(terminal_, asio::buffer(message.payload),
                                   asio::redirect_error(asio::use_awaitable, error));
        co_return !error;
      }
      case Kind::kPing: co_return co_await Write(WebSocketFrame(Kind::kPong, message.payload));
      case Kind::kPong: co_return true;
      case Kind::kClose: co_return false;
    }
    co_return false;
  }

  asio::awaitable<bool> Write(std::string frame) {
    while (!may_write_.IsSet()) co_await may_write_.Wait();
    may_write_.Reset();
    const Status written = co_await stream_->Write(std::move(frame));
    may_write_.Set();
    co_return written.has_value();
  }

  asio::posix::stream_descriptor terminal_;
  std::optional<ChildProcess> process_;
  std::function<void(TerminalSize)> resize_;
  std::function<asio::awaitable<std::optional<int>>()> status_;
  std::shared_ptr<http::ByteStream> stream_;
  Event may_write_;
};

}  // namespace

Result<Terminal> OpenTerminal(const std::string& program, const std::string& attempt_dir, TerminalSize size) {
  UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 64> name{};
  if (!master || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0 ||
      ptsname_r(master.get(), name.data(), name.size()) != 0) {
    return std::unexpected(ErrnoError(errno, "open a terminal"));
  }
  const UniqueFd slave(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave) return std::unexpected(ErrnoError(errno, "open a terminal"));
  Resize(master.get(), size);
  SpawnOptions options;
  options.argv = {program, "replica-shell", attempt_dir};
  options.environment = {"TERM=xterm-256color"};
  options.descriptors = {{slave.get(), 0}, {slave.get(), 1}, {slave.get(), 2}};
  options.group = ProcessGroup::kSession;
  TY_TRY(ChildProcess process, ChildProcess::Spawn(std::move(options)));
  return Terminal{.master = std::move(master), .process = std::move(process)};
}

int StatusOf(const ExitStatus& ended) { return ended.signal != 0 ? 128 + ended.signal : ended.code; }

void Resize(int master, TerminalSize size) {
  const auto fits = [](int side) { return 1 <= side && side <= kTerminalSideMax; };
  if (!fits(size.rows) || !fits(size.columns)) return;
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows);
  window.ws_col = static_cast<unsigned short>(size.columns);
  ioctl(master, TIOCSWINSZ, &window);
}

asio::awaitable<void> RunSession(Terminal terminal, std::shared_ptr<http::ByteStream> stream) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  Session session(loop, std::move(terminal), std::move(stream));
  TaskGroup output(loop);
  output.Spawn(session.ShowOutput());
  try {
    co_await session.TakeInput();
  } catch (const boost::system::system_error&) {  // cancelled: the server is ending
  }
  co_await asio::this_coro::throw_if_cancelled(false);
  output.Cancel();
  co_await output.Join();
}

}  // namespace trainyard::shell
