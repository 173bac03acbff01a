#include "rules/objects/path_escape.h"

#include <utility>

#include "base/check.h"
#include "base/wire/utf8.h"

namespace trainyard::storage {
namespace {

constexpr std::string_view kEmpty = ".%empty";
constexpr std::string_view kDot = ".%dot";
constexpr std::string_view kDotDot = ".%dotdot";
constexpr std::string_view kName = ".%name.";
constexpr std::string_view kPart = ".%part.";
constexpr std::string_view kLast = ".%last.";
constexpr std::string_view kFile = ".%file.";
constexpr std::size_t kPieceBytes = 240;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The first piece of a long segment: at most kPieceBytes, cut between characters so that file managers can
/// show it.
std::size_t PieceLength(std::string_view rest) {
  if (rest.size() <= kPieceBytes) return rest.size();
  std::size_t length = kPieceBytes;
  while (length > 1 && IsContinuation(rest[length])) --length;
  return length;
}

std::string Joined(std::string_view mark, std::string_view text) {
  std::string name(mark);
  name.append(text);
  return name;
}

/// Appends the components of one segment; the last one is its directory or file.
void AppendSegment(std::string_view segment, std::vector<std::string>& components) {
  if (segment.empty()) {
    components.emplace_back(kEmpty);
  } else if (segment == ".") {
    components.emplace_back(kDot);
  } else if (segment == "..") {
    components.emplace_back(kDotDot);
  } else if (segment.starts_with(kEscapeMark) && segment.size() + kName.size() <= kComponentBytesMax) {
    components.push_back(Joined(kName, segment));
  } else if (!segment.starts_with(kEscapeMark) && segment.size() <= kComponentBytesMax) {
    components.emplace_back(segment);
  } else {
    while (segment.size() > kPieceBytes) {
      const std::size_t length = PieceLength(segment);
      components.push_back(Joined(kPart, segment.substr(0, length)));
      segment.remove_prefix(length);
    }
    components.push_back(Joined(kLast, segment));
  }
}

std::optional<EntryName> DecodePlain(std::string_view entry) {
  if (entry.empty() || entry == kPart || entry == kLast) return std::nullopt;
  if (entry == kEmpty) return EntryName{};
  if (entry == kDot) return EntryName{.text = "."};
  if (entry == kDotDot) return EntryName{.text = ".."};
  if (entry.starts_with(kName)) {
    const std::string_view text = entry.substr(kName.size());
    if (!text.starts_with(kEscapeMark) || entry.size() > kComponentBytesMax) return std::nullopt;
    return EntryName{.text = std::string(text)};
  }
  if (entry.starts_with(kPart))
    return EntryName{.text = std::string(entry.substr(kPart.size())), .piece = true};
  if (entry.starts_with(kLast))
    return EntryName{.text = std::string(entry.substr(kLast.size())), .last_piece = true};
  if (entry.starts_with(kEscapeMark) || entry.size() > kComponentBytesMax) return std::nullopt;
  return EntryName{.text = std::string(entry)};
}

}  // namespace

ObjectPath EscapeObject(std::string_view object) {
  std::vector<std::string> components;
  for (std::size_t slash; (slash = object.find('/')) != std::string_view::npos;
       object.remove_prefix(slash + 1)) {
    AppendSegment(object.substr(0, slash), components);
  }
  AppendSegment(object, components);
  ObjectPath path;
  path.file = std::move(components.back());
  components.pop_back();
  path.folders = std::move(components);
  return path;
}

std::string DisplacedName(std::string_view component) {
  TY_CHECK(component.size() <= kComponentBytesMax);
  return Joined(kFile, component);
}

std::optional<EntryName> DecodeEntry(std::string_view entry) {
  if (!wire::IsUtf8(entry) || entry.find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
  if (!entry.starts_with(kFile)) return DecodePlain(entry);
  std::optional<EntryName> name = DecodePlain(entry.substr(kFile.size()));
  if (!name || name->piece) return std::nullopt;
  name->displaced = true;
  return name;
}

}  // namespace trainyard::storage
