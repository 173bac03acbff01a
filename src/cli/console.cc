#include "cli/console.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "wire/visible_text.h"

namespace trainyard::cli {
namespace {

void Write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void WriteOut(std::string_view text) {
  if (Console::OutIsTerminal())
    Write(stdout, wire::VisibleText(text));
  else
    Write(stdout, text);
}

void WriteErr(std::string_view text) {
  if (Console::ErrIsTerminal())
    Write(stderr, wire::VisibleText(text));
  else
    Write(stderr, text);
}

}  // namespace

void Console::Out(std::string_view text) const {
  if (options_.user_output) WriteOut(text);
}

void Console::Status(std::string_view text) const {
  if (options_.user_output) WriteErr(text);
}

void Console::Warn(std::string_view text) const {
  if (options_.warnings) WriteErr("WARNING: " + std::string(text) + "\n");
}

void Console::Transient(std::string_view text) const {
  if (ErrIsTerminal()) Write(stderr, text);
}

bool Console::OutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

bool Console::ErrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace trainyard::cli
