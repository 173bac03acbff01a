#include "cli/jobs/job_commands.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "base/async/random_bytes.h"
#include "net/http/client.h"
#include "net/http/uri.h"
#include "replica/shell/websocket.h"

namespace trainyard::cli {
namespace {

using shell::WebSocketFrame;
using shell::WebSocketMessage;
using Kind = WebSocketMessage::Kind;

constexpr std::chrono::seconds kConnectWaitMax{20};
constexpr std::string_view kEndOfFile = "\x04";  // what Ctrl-D types
/// Any 16 bytes: the server returns their hash to prove that it speaks WebSocket.
constexpr std::string_view kKey = "dHJhaW55YXJkIHNoZWxsIQ==";

/// Puts the terminal into raw mode while it lives: Ctrl-C goes to the shell.
class RawTerminal {
 public:
  RawTerminal() : changed_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!changed_) return;
    termios raw = before_;
    cfmakeraw(&raw);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  ~RawTerminal() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  [[nodiscard]] bool is_terminal() const noexcept { return changed_; }

 private:
  termios before_{};
  bool changed_;
};

std::string ClientFrame(Kind kind, std::string_view payload) {
  return WebSocketFrame(kind, payload, RandomBytes<std::uint32_t>());
}

/// "24 80"; nothing without a terminal.
std::optional<std::string> WindowSize() {
  winsize window{};
  if (ioctl(STDIN_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return std::nullopt;
  return std::to_string(window.ws_row) + " " + std::to_string(window.ws_col);
}

UniqueFd WatchWindow() {
  sigset_t changed;
  sigemptyset(&changed);
  sigaddset(&changed, SIGWINCH);
  sigprocmask(SIG_BLOCK, &changed, nullptr);
  return UniqueFd(signalfd(-1, &changed, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// The close message's reason: "exit 3".
Result<int> ExitStatusOf(std::string_view close) {
  constexpr std::string_view kExit = "exit ";
  const std::size_t at = close.find(kExit);
  if (at == std::string_view::npos)
    return std::unexpected(Unavailable(
        "The exit status of the shell is unknown: its replica, its node or the server may have ended."));
  int status = 1;
  std::from_chars(close.data() + at + kExit.size(), close.data() + close.size(), status);
  return status;
}

/// Sends what is typed to the shell and prints what the shell writes.
class ShellSession {
 public:
  ShellSession(http::Client::Upgraded connection, bool is_terminal)
      : socket_(std::move(connection.descriptor)), is_terminal_(is_terminal) {
    reader_.Feed(connection.early);
  }

  Result<int> Run() {
    if (auto size = WindowSize()) TY_RETURN_IF_ERROR(Send(Kind::kText, *size));
    for (;;) {
      TY_TRY(const std::optional<int> ended, ShowMessages());
      if (ended) return *ended;
      std::array<pollfd, 3> ready = {{{.fd = socket_.get(), .events = POLLIN},
                                      {.fd = typing_ ? STDIN_FILENO : -1, .events = POLLIN},
                                      {.fd = window_.get(), .events = POLLIN}}};
      if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR)
        return std::unexpected(ErrnoError(errno, "poll"));
      if (ready[2].revents != 0) TY_RETURN_IF_ERROR(TellSize());
      if (ready[1].revents != 0) TY_RETURN_IF_ERROR(Type());
      if (ready[0].revents != 0) TY_RETURN_IF_ERROR(Receive());
    }
  }

 private:
  Status Send(Kind kind, std::string_view payload) {
    return WriteAll(socket_.get(), ClientFrame(kind, payload));
  }

  Status TellSize() {
    signalfd_siginfo ignored;
    while (read(window_.get(), &ignored, sizeof ignored) > 0) {
    }
    if (auto size = WindowSize()) return Send(Kind::kText, *size);
    return {};
  }

  Status Type() {
    const ssize_t size = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (size > 0) return Send(Kind::kBinary, {buffer_.data(), static_cast<std::size_t>(size)});
    typing_ = false;
    if (is_terminal_) return Send(Kind::kClose, "");  // the terminal was closed
    return Send(Kind::kBinary, kEndOfFile);
  }

  Status Receive() {
    const ssize_t size = read(socket_.get(), buffer_.data(), buffer_.size());
    if (size < 0 && errno == EINTR) return {};
    if (size <= 0) return std::unexpected(Unavailable("The connection to the server was lost."));
    reader_.Feed({buffer_.data(), static_cast<std::size_t>(size)});
    return {};
  }

  /// Prints the messages that have arrived. Returns the exit status if the shell has ended.
  Result<std::optional<int>> ShowMessages() {
    for (;;) {
      TY_TRY(const std::optional<WebSocketMessage> message, reader_.Next());
      if (!message) return std::nullopt;
      if (message->kind == Kind::kClose) {
        TY_TRY(const int status, ExitStatusOf(message->payload));
        return status;
      }
      if (message->kind == Kind::kPing) TY_RETURN_IF_ERROR(Send(Kind::kPong, message->payload));
      if (message->kind == Kind::kBinary) TY_RETURN_IF_ERROR(WriteAll(STDOUT_FILENO, message->payload));
    }
  }

  UniqueFd socket_;
  UniqueFd window_ = WatchWindow();
  bool is_terminal_;
  bool typing_ = true;
  shell::WebSocketReader reader_{shell::WebSocketReader::Peer::kServer};
  std::array<char, 16 << 10> buffer_{};
};

struct Shell {
  std::string name;  ///< "master-replica-0"; in a tuning job "3/master-replica-0" for trial 3
  std::string uri;
};

std::vector<Shell> ShellsOf(const Json& job) {
  std::vector<Shell> shells;
  const auto add = [&shells](const Json& output, const std::string& prefix) {
    for (const Json& uri : ListAt(output, "webAccessUris")) shells.push_back({prefix + uri.name, uri.text});
  };
  const Json* output = FindMember(job, "trainingOutput");
  if (output == nullptr) return shells;
  add(*output, "");
  for (const Json& trial : ListAt(*output, "trials")) add(trial, TextAt(trial, "trialId") + "/");
  return shells;
}

/// The shell's URI. If there is none, an error that says what to do.
Result<std::string> UriOf(const CommandSession& session, const JobReference& job,
                          const std::string& task_name) {
  TY_TRY(const Json answer, CallJson(session.client, {.path = job.Path()}));
  const std::vector<Shell> shells = ShellsOf(answer);
  for (const Shell& shell : shells) {
    if (shell.name == task_name || shell.name.ends_with("/" + task_name)) return shell.uri;
  }
  const std::string is = "Job [" + job.job_id + "] is " + TextAt(answer, "state") + ". ";
  if (TextAt(answer, "trainingInput.enableWebAccess") != "true") {
    return std::unexpected(FailedPrecondition(
        "Job [" + job.job_id + "] does not allow shells. Submit it with --enable-web-access."));
  }
  std::string there;
  for (const Shell& shell : shells) there += (there.empty() ? "" : ", ") + shell.name;
  return std::unexpected(
      FailedPrecondition(is + "The replica [" + task_name + "] has no shell at the moment" +
                         (there.empty() ? ": shells are available while the job is RUNNING."
                                        : "; shells are available in: " + there + ".")));
}

}  // namespace

ExitStatus OpenJobShell(const CommandSession& session) {
  const auto& words = session.arguments.positionals;
  const JobReference job = ParseJobReference(session, words.front());
  TY_TRY(const std::string uri, UriOf(session, job, words.size() == 2 ? words[1] : "master-replica-0"));
  const std::size_t path = uri.find('/', uri.find("://") + 3);
  TY_TRY(http::Endpoint endpoint, http::Endpoint::Parse(uri.substr(0, path)));
  if (!session.ca_file.empty()) endpoint.ca_file = session.ca_file;
  http::Headers headers;
  // The address is the server's own word, which has the token already.
  if (!session.token.empty()) headers.Add("Authorization", "Bearer " + session.token);
  headers.Add("Sec-WebSocket-Version", "13");
  headers.Add("Sec-WebSocket-Key", std::string(kKey));
  http::Client client(std::move(endpoint));
  TY_TRY(http::Client::Upgraded connection,
         client.Upgrade(uri.substr(path), "websocket", kConnectWaitMax, std::move(headers)));
  const RawTerminal terminal;
  return ShellSession(std::move(connection), terminal.is_terminal()).Run();
}

}  // namespace trainyard::cli
