#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::storage {

/// The path of an object under its bucket's directory: directories from the outside in, then the file. No
/// component is empty, ".", "..", longer than kComponentBytesMax or contains a '/'.
struct ObjectPath {
  std::vector<std::string> folders;
  std::string file;
  friend bool operator==(const ObjectPath&, const ObjectPath&) = default;
};

/// All escaped names under a bucket begin with this; all others are ordinary names.
inline constexpr std::string_view kEscapeMark = ".%";
/// Longest component that EscapeObject makes; the rest of the file system's 255 bytes is left for
/// DisplacedName.
inline constexpr std::size_t kComponentBytesMax = 248;

/// Object name to path: one to one. Each segment between slashes is a component of the same name, except:
/// - the empty segment                 ".%empty"     (the object "a/" is the file a/.%empty)
/// - "." and ".."                      ".%dot", ".%dotdot"
/// - a segment that begins with ".%"   ".%name." and the segment
/// - a segment over 248 bytes          pieces of 240: directories ".%part.PIECE", at the end ".%last.PIECE"
///
/// @param object  valid by wire::ValidateObjectName. Pure: any thread. Source:
/// docs/adr/0003-buckets-are-folders.md.
[[nodiscard]] ObjectPath EscapeObject(std::string_view object);

/// The file name of an object whose own name is that of a directory in the same place: ".%file.NAME".
[[nodiscard]] std::string DisplacedName(std::string_view component);

/// What one directory entry contributes to object names.
struct EntryName {
  std::string text;         ///< bytes of the object name
  bool piece = false;       ///< ".%part.": the rest of the segment is inside this directory
  bool last_piece = false;  ///< ".%last.": only after a piece
  bool displaced = false;   ///< ".%file."
  friend bool operator==(const EntryName&, const EntryName&) = default;
};

/// Inverse of the escape for one entry. Absent if EscapeObject never makes that entry (an unknown ".%" name,
/// or one that needed no escape), or it is not UTF-8: such a file is not an object.
[[nodiscard]] std::optional<EntryName> DecodeEntry(std::string_view entry);

}  // namespace trainyard::storage
