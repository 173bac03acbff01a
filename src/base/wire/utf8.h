#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 by RFC 3629 and Unicode 15, table 3-7: no surrogates, no overlong forms. Pure: any thread.
namespace trainyard::wire {

/// The size of the well-formed character at the beginning of `text`; 0 if there is none.
[[nodiscard]] std::size_t Utf8Length(std::string_view text) noexcept;

/// Whether the bytes are well-formed UTF-8.
[[nodiscard]] bool IsUtf8(std::string_view text) noexcept;

/// The text with U+FFFD for each byte that is not part of a well-formed character, so that JSON and protobuf
/// strings may contain it.
[[nodiscard]] std::string ReplaceMalformed(std::string_view text);

/// The largest size <= `bytes_max` at which `text` can be cut without splitting a character. Bytes that are
/// not UTF-8 may be split anywhere.
[[nodiscard]] std::size_t Utf8Prefix(std::string_view text, std::size_t bytes_max) noexcept;

/// Makes untrusted text (log lines, names, messages of servers) safe for a terminal. A terminal interprets
/// some characters as commands; those are printed as `ls -b` prints them: `\r`, `\033`, each byte as a
/// backslash and three octal digits if C has no letter for it.
///
/// This applies to the control characters of ASCII except tab and newline, DEL, those of Unicode (U+0080 to
/// U+009F), the characters that change the direction of writing (U+202A to U+202E, U+2066 to U+2069), and
/// bytes that are no UTF-8. "\r\n" is kept: it is harmless. A backslash is kept, too: the output is for
/// people, not for parsing. Pure.
[[nodiscard]] std::string VisibleText(std::string_view text);

/// As VisibleText, for text that arrives in pieces, which may split characters. One thread.
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
