#pragma once

#include <string>
#include <string_view>

/// What a terminal is shown of text that others wrote: log lines, names, messages of servers. A terminal
/// obeys some characters instead of showing them; those are printed as `ls -b` prints them: `\r`, `\033`,
/// each byte as a backslash and three octal digits where C has no letter for it.
///
/// Printed so: the control characters of ASCII but tab and newline, DEL, those of Unicode (U+0080 to U+009F),
/// the characters that change the direction of writing (U+202A to U+202E, U+2066 to U+2069), and bytes that
/// are no UTF-8. "\r\n" stays: it moves nothing. A backslash stays as it is: what is printed is for reading,
/// not for reading back. Pure.
namespace trainyard::wire {

/// A whole text. Any thread.
[[nodiscard]] std::string VisibleText(std::string_view text);

/// Text that comes in pieces, which may cut characters apart. One thread.
class VisibleStream {
 public:
  /// What can be shown of everything so far and was not shown before.
  [[nodiscard]] std::string Next(std::string_view piece);
  /// The rest: the text has ended.
  [[nodiscard]] std::string Finish();

 private:
  std::string rest_;  ///< the beginning of a character, or "\r": at most 3 bytes
};

}  // namespace trainyard::wire
