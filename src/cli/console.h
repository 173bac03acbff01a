#pragma once

#include <string_view>

namespace trainyard::cli {

/// Where commands print. Answers go to stdout, remarks, warnings and errors to stderr; each call is written
/// at once.
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
  /// Progress and the like, only when a person looks at stderr.
  void Transient(std::string_view text) const;
  [[nodiscard]] static bool ErrIsTerminal();

 private:
  Options options_;
};

}  // namespace trainyard::cli
