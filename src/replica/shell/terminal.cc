#include "replica/shell/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace trainyard::shell {

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

void Resize(int master, TerminalSize size) {
  const auto fits = [](int side) { return 1 <= side && side <= kTerminalSideMax; };
  if (!fits(size.rows) || !fits(size.columns)) return;
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows);
  window.ws_col = static_cast<unsigned short>(size.columns);
  ioctl(master, TIOCSWINSZ, &window);
}

}  // namespace trainyard::shell
