#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "base/wire/utf8.h"

namespace trainyard::measurement {

/// If the tag that was looked for is missing, the message names this many other tags, with this many bytes of
/// each.
inline constexpr std::size_t kSeenTagsMax = 20;
inline constexpr std::size_t kTagBytesMax = 128;

/// The part of a tag that is shown. Pure.
inline std::string ShownTag(std::string_view tag) {
  return wire::ReplaceMalformed(tag.substr(0, wire::Utf8Prefix(tag, kTagBytesMax)));
}

/// Adds a tag to the list for the user. Pure.
inline void NoteTag(std::set<std::string>& seen, std::string_view tag) {
  if (seen.size() < kSeenTagsMax) seen.insert(ShownTag(tag));
}

}  // namespace trainyard::measurement
