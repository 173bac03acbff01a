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

/// The bytes of "Downloading numpy-2.0.whl (18.2 MB)" (pip) or "Downloading numpy (17.3MiB)" (uv); 0: none.
std::int64_t BytesOf(std::string_view line) {
  const std::size_t open = line.rfind('(');
  if (!line.starts_with("Downloading ") || open == std::string_view::npos) return 0;
  const std::string_view text = line.substr(open + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  std::string_view unit(end, text.data() + text.size());
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (unit.empty()) return 0;
  constexpr std::string_view kLetters = "kmg";
  const bool is_power_of_two = unit.size() > 1 && unit[1] == 'i';
  const std::size_t letter = kLetters.find(static_cast<char>(unit[0] | 0x20));
  for (std::size_t i = 0; letter != std::string_view::npos && i <= letter; ++i)
    number *= is_power_of_two ? 1024 : 1000;
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::optional<Progress> InstallProgress::TakeLine(std::string_view line) {
  constexpr std::string_view kInstalled = "Successfully installed ";
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const Progress before = progress_;
  bytes_ += BytesOf(line);
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

std::string InstallProgress::Text() const {
  constexpr std::int64_t kMegabyte = 1'000'000;
  if (progress_.done == 0 && bytes_ == 0) return {};
  std::string text = std::to_string(progress_.done);
  if (progress_.total > progress_.done) text += " of " + std::to_string(progress_.total);
  text += progress_.done == 1 && progress_.total <= 1 ? " package" : " packages";
  if (bytes_ > 0) text += ", " + std::to_string((bytes_ + kMegabyte - 1) / kMegabyte) + " MB downloaded";
  return text;
}

}  // namespace trainyard::environment
