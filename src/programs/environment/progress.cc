#include "programs/environment/progress.h"

#include <algorithm>
#include <charconv>

namespace trainyard::environment {

namespace {

/// 45 of "Resolved 45 packages in 1.2s".
std::optional<std::int64_t> CountAfter(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  const std::string_view rest(end, line.data() + line.size());
  if (error != std::errc() || !rest.starts_with(" package")) return std::nullopt;
  return count;
}

std::int64_t Words(std::string_view text) { return 1 + std::ranges::count(text, ' '); }

}  // namespace

std::optional<Progress> InstallProgress::TakeLine(std::string_view line) {
  constexpr std::string_view kInstalled = "Successfully installed ";
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const Progress before = progress_;
  if (const auto resolved = CountAfter(line, "Resolved ")) {
    progress_.total = *resolved;
  } else if (const auto prepared = CountAfter(line, "Prepared ")) {
    progress_.done = std::max(progress_.done, *prepared);
  } else if (const auto installed = CountAfter(line, "Installed ")) {
    progress_.done = progress_.total = *installed;
  } else if (line.starts_with(kInstalled)) {
    progress_.done = progress_.total = Words(line.substr(kInstalled.size()));
  } else if (line.starts_with("Downloaded ") || line.starts_with("Built ") ||
             line.starts_with("Collecting ")) {
    ++progress_.done;
    if (progress_.total != 0) progress_.done = std::min(progress_.done, progress_.total);
  }
  if (progress_ == before) return std::nullopt;
  return progress_;
}

}  // namespace trainyard::environment
