#pragma once

#include <string>
#include <string_view>

/// Text from outside (log lines, names, messages of servers) made safe for a terminal. A terminal obeys some
/// characters instead of showing them; those are printed as `ls -b` prints them: `\r`, `\033`, each byte as a
/// backslash and three octal digits where C has no letter for it.
///
/// Printed so: the control characters of ASCII but tab and newline, DEL, those of Unicode (U+0080 to U+009F),
/// the characters that change the direction of writing (U+202A to U+202E, U+2066 to U+2069), and bytes that
/// are no UTF-8. "\r\n" is kept: it is harmless. A backslash is kept, too: the output is for people, not for
/// parsing. Pure.
namespace trainyard::wire {

/// A whole text. Any thread.
[[nodiscard]] std::string VisibleText(std::string_view text);

/// Text that arrives in pieces, which may split characters. One thread.
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
