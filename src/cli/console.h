#pragma once

#include <string_view>

namespace trainyard::cli {

/// Where commands print: the only place that writes to stdout and stderr, but for `jobs shell`, which is a
/// terminal by itself, and `local train`, whose program has them. Answers go to stdout, remarks, warnings and
/// errors to stderr; each call is written at once. A terminal is shown wire::VisibleText, since most of what
/// is printed was written by others; pipes and files get the bytes as they are.
class Console {
 public:
  struct Options {
    bool user_output = true;  ///< --user-output-enabled
    bool warnings = true;     ///< --verbosity below error
  };
  explicit Console(Options options) : options_(options) {}

  void Out(std::string_view text) const;
  /// A remark: "Job [x] submitted successfully.\n".
  void Status(std::string_view text) const;
  /// "WARNING: text\n"
  void Warn(std::string_view text) const;
  /// Progress and the like, only when a person looks at stderr: as it is, with what moves the cursor.
  /// What is in it from others is for the caller to make visible.
  void Transient(std::string_view text) const;
  [[nodiscard]] static bool OutIsTerminal();
  [[nodiscard]] static bool ErrIsTerminal();

 private:
  Options options_;
};

}  // namespace trainyard::cli
