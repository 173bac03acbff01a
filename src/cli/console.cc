#include "cli/console.h"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace trainyard::cli {
namespace {

void Write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

void Console::Out(std::string_view text) const {
  if (options_.user_output) Write(stdout, text);
}

void Console::Status(std::string_view text) const {
  if (options_.user_output) Write(stderr, text);
}

void Console::Warn(std::string_view text) const {
  if (options_.warnings) Write(stderr, "WARNING: " + std::string(text) + "\n");
}

void Console::Transient(std::string_view text) const {
  if (ErrIsTerminal()) Write(stderr, text);
}

bool Console::ErrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace trainyard::cli
