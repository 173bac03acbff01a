#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::packing {

/// Makes the names of entries of one archive from the names of objects below a folder. Bytes that could lead
/// an unpacker out of its directory, or that are not valid in a file name, are written as "%" and two
/// hexadecimal digits each:
/// - a part that is "", "." or "..": "%2F", "%2E", "%2E%2E" ("/etc/passwd" is "%2F/etc/passwd")
/// - a backslash (Windows), control characters, DEL, and the colon of a drive ("C:x")
/// - bytes that are not UTF-8
/// - a "%" before two hexadecimal digits, so that different objects have different names
/// - the end of a folder's name if an object has the same name: "a" and "a/b" become "a" and "a%2F/b"
/// An object's name that ends in "/" and has no bytes is a folder.
///
/// Pure, except that it remembers earlier names: names must come in byte order, as in listings. One thread.
class EntryNames {
 public:
  /// @param top  the folder that all entries are in: a name without slashes, safe.
  explicit EntryNames(std::string top) : top_(std::move(top)) {}

  /// @param object  the name below the folder; not empty. @param is_empty  it has no bytes.
  [[nodiscard]] std::string NameOf(std::string_view object, bool is_empty);

 private:
  std::string top_;
  std::vector<std::string> files_;  ///< objects that may also be folders of later objects, outermost first
};

}  // namespace trainyard::packing
