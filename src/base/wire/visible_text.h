#pragma once

#include <string>
#include <string_view>

/// Makes untrusted text (log lines, names, messages of servers) safe for a terminal. A terminal interprets
/// some characters as commands; those are printed as `ls -b` prints them: `\r`, `\033`, each byte as a
/// backslash and three octal digits if C has no letter for it.
///
/// This applies to the control characters of ASCII except tab and newline, DEL, those of Unicode (U+0080 to
/// U+009F), the characters that change the direction of writing (U+202A to U+202E, U+2066 to U+2069), and
/// bytes that are no UTF-8. "\r\n" is kept: it is harmless. A backslash is kept, too: the output is for
/// people, not for parsing. Pure.
namespace trainyard::wire {

/// Converts a whole text. Any thread.
[[nodiscard]] std::string VisibleText(std::string_view text);

/// Converts text that arrives in pieces, which may split characters. One thread.
class VisibleStream {
 public:
  /// The part of the text so far that can be shown and was not returned before.
  [[nodiscard]] std::string Next(std::string_view piece);
  /// Call at the end of the text: returns the rest.
  [[nodiscard]] std::string Finish();

 private:
  std::string rest_;  ///< the beginning of a character, or "\r": at most 3 bytes
};

}  // namespace trainyard::wire
