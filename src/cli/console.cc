#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/wire/utf8.h"
#include "cli/gcloud/table.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kColumnsDefault = 80;

void Write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

std::FILE* FileOf(Console::Stream stream) { return stream == Console::Stream::kOut ? stdout : stderr; }

/// Whether a terminal obeys control sequences.
bool ObeysSequences() {
  const char* type = std::getenv("TERM");
  return type != nullptr && *type != '\0' && std::string_view(type) != "dumb";
}

bool HasColours(std::FILE* stream) {
  const char* unwanted = std::getenv("NO_COLOR");
  return IsTerminal(stream) && ObeysSequences() && (unwanted == nullptr || *unwanted == '\0');
}

std::size_t Columns(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsDefault;
  return size.ws_col;
}

void WriteText(std::FILE* stream, std::string_view text) {
  if (IsTerminal(stream))
    Write(stream, wire::VisibleText(text));
  else
    Write(stream, text);
}

void WriteTitled(std::string_view title, Colour colour, std::string_view text) {
  Write(stderr, HasColours(stderr) ? Painted(title, colour) : std::string(title));
  WriteText(stderr, " " + std::string(text) + "\n");
}

void WriteTable(std::FILE* stream, Rows rows) {
  TableView view;
  if (IsTerminal(stream)) {
    view = {.columns = Columns(stream), .colours = HasColours(stream)};
    for (auto& row : rows)
      for (std::string& cell : row) cell = wire::VisibleText(cell);
  }
  Write(stream, PrintTable(rows, view));
}

}  // namespace

void Console::Out(std::string_view text) const {
  if (options_.user_output) WriteText(stdout, text);
}

void Console::Status(std::string_view text) const {
  if (options_.user_output) WriteText(stderr, text);
}

void Console::Warn(std::string_view text) const {
  if (options_.warnings) WriteTitled("WARNING:", Colour::kYellow, text);
}

void Console::Fail(std::string_view text) const {
  if (options_.user_output) WriteTitled("ERROR:", Colour::kRed, text);
}

void Console::Table(const Rows& rows, Stream stream) const {
  if (options_.user_output) WriteTable(FileOf(stream), rows);
}

void Console::LogLines(std::string_view lines, Stream stream) const {
  if (!options_.user_output) return;
  std::FILE* file = FileOf(stream);
  if (!IsTerminal(file)) return Write(file, WithoutRedrawMarks(lines));
  if (!HasColours(file)) return WriteText(file, WithoutControlSequences(WithoutRedrawMarks(lines)));
  Write(file, log_view_.Show(lines, Columns(file)));
}

void Console::Transient(std::string_view text) const {
  if (ErrIsTerminal() && ObeysSequences()) Write(stderr, text);
}

void Console::ClearScreen() const {
  if (options_.user_output && OutIsTerminal() && ObeysSequences()) Write(stdout, "\x1b[H\x1b[2J");
}

bool Console::OutIsTerminal() { return IsTerminal(stdout); }

bool Console::ErrIsTerminal() { return IsTerminal(stderr); }

std::size_t Console::ErrColumns() { return Columns(stderr); }

}  // namespace trainyard::cli
