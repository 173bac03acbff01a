#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <limits>
#include <span>
#include <string>

#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/interrupt.h"
#include "cli/top/top_view.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::seconds kPause{2};
/// The rows of the queue that fit on a terminal that is redrawn.
constexpr std::size_t kWaitingShown = 20;

/// Keys come one by one and are not shown, while it lives. Ctrl-C stays a signal.
class KeyByKey {
 public:
  KeyByKey() : changed_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!changed_) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  }
  ~KeyByKey() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;

  [[nodiscard]] bool is_terminal() const noexcept { return changed_; }

  /// Whether q was typed; does not wait.
  [[nodiscard]] bool TakeQuit() const {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (changed_ && ::poll(&ready, 1, 0) == 1) {
      char key = 0;
      if (::read(STDIN_FILENO, &key, 1) != 1) return true;  // the terminal is gone
      if (key == 'q' || key == 'Q') return true;
    }
    return false;
  }

 private:
  termios before_{};
  bool changed_;
};

Result<Json> Ask(const CommandSession& session) {
  return CallJson(session.client, {.method = ApiRequest::Method::kGet, .path = "/trainyard/v1/usage"});
}

void Print(const Console& console, const TopView& view) {
  console.Out(view.machine + "\n\n");
  if (view.running.size() > 1) {
    console.Table(view.running);
  } else {
    console.Out("No job runs.\n");
  }
  if (view.waiting.size() > 1) {
    console.Out("\n");
    console.Table(view.waiting);
  }
  if (view.left_out > 0) console.Out("and " + std::to_string(view.left_out) + " more waiting\n");
  if (view.projects.size() == 1) return;
  console.Out("\n");
  console.Table(view.projects);
}

ExitStatus ShowForEver(const CommandSession& session) {
  const KeyByKey keys;
  const InterruptWatch interrupt;
  while (true) {
    TY_TRY(const Json report, Ask(session));
    session.console.ClearScreen();
    Print(session.console, MakeTopView(report, kWaitingShown));
    session.console.Out("\nPress q or Ctrl-C to quit.\n");
    const bool interrupted =
        keys.is_terminal() ? interrupt.WaitForInput(STDIN_FILENO, kPause) : interrupt.WaitFor(kPause);
    if (interrupted || keys.TakeQuit()) return 0;
  }
}

/// `top`: jobs of all projects that have not ended, what they hold or wait for, the machine, and what
/// projects used. On a terminal it is shown anew every two seconds until q or Ctrl-C; on a pipe, with --once
/// or with
/// --format once. One thread.
ExitStatus ShowTop(const CommandSession& session) {
  const bool formatted = session.format.kind != OutputFormat::Kind::kDefault;
  if (!formatted && !session.arguments.IsOn("--once") && Console::OutIsTerminal())
    return ShowForEver(session);
  TY_TRY(const Json report, Ask(session));
  if (formatted) {
    session.console.Out(PrintResource(report, session.format));
  } else {
    Print(session.console, MakeTopView(report, std::numeric_limits<std::size_t>::max()));
  }
  return 0;
}

constexpr auto kTopFlags = WithCommonFlags(
    {{"--once", "",
      "Print the table once. Without this flag, a terminal shows it until you press q or Ctrl-C."}});

const Command kTopCommandTable[] = {
    {.spec = {.path = "top",
              .summary = "Show running jobs of all projects, the machine's resources and the queue.",
              .flags = kTopFlags,
              .examples = "top\n"
                          "top --once\n"
                          "top --format=json"},
     .run = ShowTop},
};

}  // namespace

std::span<const Command> TopCommands() { return kTopCommandTable; }

}  // namespace trainyard::cli
