#include "cli/terminal_input.h"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace trainyard::cli {
namespace {

constexpr std::size_t kInputMax = 65536;  // tokens and keys used as passwords are long

/// Turns the terminal's echo off while it lives.
class WithoutEcho {
 public:
  WithoutEcho() {
    if (::tcgetattr(STDIN_FILENO, &former_) != 0) return;
    termios silent = former_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  WithoutEcho(const WithoutEcho&) = delete;
  WithoutEcho& operator=(const WithoutEcho&) = delete;
  ~WithoutEcho() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &former_);
  }

 private:
  termios former_{};
  bool changed_ = false;
};

}  // namespace

Result<std::string> ReadInput(bool one_line) {
  std::string text;
  char byte = 0;
  while (text.size() < kInputMax) {
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || (one_line && byte == '\n')) break;
    text += byte;
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.empty()) return std::unexpected(InvalidArgument({}, "stdin is empty."));
  return text;
}

Result<std::string> ReadSilentLine() {
  const WithoutEcho silent;
  return ReadInput(true);
}

}  // namespace trainyard::cli
