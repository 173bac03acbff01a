#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::storage {

/// Called for each object. Returns the name from which to continue (what sorts below it is skipped without
/// reading its directories), or nothing to stop.
using Visit = std::function<std::optional<std::string>(const std::string& object)>;

/// Visits the objects of a bucket in the order of their names' bytes, from `from` on, as long as names begin
/// with `prefix`. Reads only directories that can contain such names. Files that are not objects (symbolic
/// links, names that the escape never makes) are skipped. Blocks.
///
/// @param entries_max  after reading so many files and directories it ends before the next directory.
/// @return the place where it ended for that reason: a name to continue from, after `from`.
[[nodiscard]] Result<std::optional<std::string>> WalkObjects(
    int bucket, std::string prefix, std::string from, const Visit& visit,
    std::size_t entries_max = std::numeric_limits<std::size_t>::max());

/// What objects.list asks for.
struct NameQuery {
  std::string prefix;
  std::string delimiter;
  std::string start_offset;
  std::string end_offset;
  std::string page_token;
  std::string match_glob;  ///< only items and prefixes that match; see glob.h
  bool include_trailing_delimiter = false;
  /// Items and prefixes together, at least 1. A name that is both counts once.
  std::size_t results_max = 1000;
};
struct NamePage {
  std::vector<std::string> objects;
  std::vector<std::string> prefixes;
  std::string next_page_token;
  friend bool operator==(const NamePage&, const NamePage&) = default;
};

/// Lists one page. A page that takes long ends after kPageWorkMax with a token, from which clients continue.
/// kInvalidArgument: the page token is not one of ours, or the glob is malformed. Source: discovery,
/// objects.list.
[[nodiscard]] Result<NamePage> ListNames(int bucket, const NameQuery& query);
/// Limit on the work for one page, in units of Glob::WorkOf: about 0.1 s, or half a second for the costliest
/// patterns. Each name that is read costs kNameWork in addition.
inline constexpr std::size_t kPageWorkMax = 20'000'000;
inline constexpr std::size_t kNameWork = 100;

}  // namespace trainyard::storage
