#pragma once

#include <cstddef>
#include <string_view>

#include "cli/gcloud/log_view.h"
#include "cli/gcloud/table.h"

namespace trainyard::cli {

/// The only class that writes to stdout and stderr, except `jobs shell`, which passes a terminal through, and
/// `local train`, whose program inherits both. Results go to stdout; messages, warnings and errors go to
/// stderr. Each call writes immediately. A terminal gets wire::VisibleText, because most of the text comes
/// from others, colours, and tables that fit it; pipes and files get the bytes unchanged. No colours with
/// NO_COLOR (no-color.org) or TERM=dumb, and no progress with the latter.
class Console {
 public:
  struct Options {
    bool user_output = true;  ///< --user-output-enabled
    bool warnings = true;     ///< --verbosity below error
  };
  enum class Stream { kOut, kErr };
  explicit Console(Options options) : options_(options) {}

  void Out(std::string_view text) const;
  /// Whether Status() prints.
  [[nodiscard]] bool says_status() const noexcept { return options_.user_output; }
  /// A message: "Job [x] submitted successfully.\n".
  void Status(std::string_view text) const;
  /// "WARNING: text\n"
  void Warn(std::string_view text) const;
  /// "ERROR: text\n"
  void Fail(std::string_view text) const;
  void Table(const Rows& rows, Stream stream = Stream::kOut) const;
  /// Lines of a job's log: "ERROR\t...", those of progress bars with kRedrawMark at their end. On a terminal
  /// the severities stand out, and a bar is one line.
  void LogLines(std::string_view lines, Stream stream) const;
  /// Progress, printed only if stderr is a terminal. Printed unchanged, with cursor movements: the caller
  /// passes text of others through wire::VisibleText.
  void Transient(std::string_view text) const;
  /// What was printed on the terminal of stdout is gone, and the next is printed at its top. Nothing on
  /// another.
  void ClearScreen() const;
  [[nodiscard]] static bool OutIsTerminal();
  [[nodiscard]] static bool ErrIsTerminal();
  /// Columns of the terminal on stderr, 80 if it does not say.
  [[nodiscard]] static std::size_t ErrColumns();

 private:
  Options options_;
  mutable LogView log_view_;
};

}  // namespace trainyard::cli
