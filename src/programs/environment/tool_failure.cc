#include "programs/environment/tool_failure.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace trainyard::environment {

namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kReasonLengthMax = 500;

bool Contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

std::string_view Trim(std::string_view text) {
  // uv draws a frame of box characters around its reasons.
  for (const std::string_view prefix :
       {" ", "\t", "├─▶", "╰─▶", "│", "×", "error:", "ERROR:", "Caused by:", "cause:"})
    if (text.starts_with(prefix)) return Trim(text.substr(prefix.size()));
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.remove_suffix(1);
  return text;
}

std::string Shorten(std::string_view text) {
  std::string reason(Trim(text));
  if (reason.size() > kReasonLengthMax) reason = reason.substr(0, kReasonLengthMax) + "...";
  return reason;
}

/// What Python, OpenSSL and Rust report when there is no network.
std::optional<std::string> NetworkReason(const Lines& lines) {
  constexpr std::array<std::string_view, 16> kSigns{"Temporary failure in name resolution",
                                                    "Name or service not known",
                                                    "Failed to resolve",
                                                    "No address associated with hostname",
                                                    "Connection refused",
                                                    "Network is unreachable",
                                                    "No route to host",
                                                    "Connection reset by peer",
                                                    "Read timed out",
                                                    "connect timeout",
                                                    "Connection timed out",
                                                    "timed out",
                                                    "certificate verify failed",
                                                    "invalid peer certificate",
                                                    "dns error",
                                                    "failed to lookup address information"};
  const bool about_network = std::ranges::any_of(lines, [](const std::string& line) {
    return Contains(line, "Retrying (") || Contains(line, "Max retries exceeded") ||
           Contains(line, "Failed to fetch") || Contains(line, "client error (Connect)") ||
           Contains(line, "Request failed after");
  });
  if (!about_network) return std::nullopt;
  for (const std::string& line : lines | std::views::reverse)
    for (const std::string_view sign : kSigns)
      if (Contains(line, sign)) return std::string(sign);
  return std::nullopt;
}

/// The name that pip or uv prints for the download; empty if they print none.
std::string Downloaded(const Lines& lines) {
  constexpr std::string_view kUv = "Failed to download `";
  constexpr std::string_view kPip = "Downloading ";
  for (const std::string& line : lines | std::views::reverse) {
    if (const std::size_t at = line.find(kUv); at != std::string::npos) {
      const std::size_t begin = at + kUv.size();
      return line.substr(begin, line.find('`', begin) - begin);
    }
    if (!Trim(line).starts_with(kPip)) continue;
    const std::string_view file = Trim(line).substr(kPip.size());
    const std::string_view word = file.substr(0, file.find(' '));
    return std::string(word.substr(word.rfind('/') + 1));
  }
  return {};
}

/// The reason if a download ended early or has the wrong contents.
std::optional<std::string> BrokenDownload(const Lines& lines) {
  constexpr std::array<std::string_view, 9> kSigns{"end of file before message length reached",
                                                   "error reading a body from connection",
                                                   "IncompleteRead",
                                                   "Connection broken",
                                                   "not enough bytes were received",
                                                   "DO NOT MATCH THE HASHES",
                                                   "Hash mismatch for",
                                                   "BadZipFile",
                                                   "Wheel '"};
  for (const std::string& line : lines | std::views::reverse)
    for (const std::string_view sign : kSigns) {
      if (!Contains(line, sign) || (sign.starts_with("Wheel") && !Contains(line, "is invalid"))) continue;
      const std::string what = Downloaded(lines);
      if (what.empty()) continue;
      return "The download of " + what + " is incomplete or damaged (" + Shorten(line) + "); try again";
    }
  return std::nullopt;
}

/// The requirements that exclude each other, of pip's lines after "The conflict is caused by:".
std::optional<std::string> Conflict(const Lines& lines) {
  const auto begin = std::ranges::find_if(
      lines, [](const std::string& line) { return Contains(line, "The conflict is caused by:"); });
  std::string causes;
  for (const std::string& line : std::ranges::subrange(begin, lines.end())) {
    std::string_view cause = Trim(line);
    for (const std::string_view lead : {"The user requested (constraint) ", "The user requested "})
      if (cause.starts_with(lead)) cause.remove_prefix(lead.size());
    const bool is_cause = cause.size() < Trim(line).size() || Contains(cause, " depends on ");
    if (is_cause) causes += (causes.empty() ? "" : "; ") + std::string(cause);
  }
  if (causes.empty()) return std::nullopt;
  return Shorten("requirements contradict each other: " + causes);
}

bool IsPackageName(std::string_view text) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.find_first_not_of(kCharacters) == std::string_view::npos;
}

/// " numpy": the package that pip or uv could not build, which may be one that the user's package needs.
/// Empty if they do not name one.
std::string Unbuilt(const Lines& lines) {
  struct Sign {
    std::string_view begin;
    std::string_view end;  ///< of the name: one of these characters
  };
  constexpr std::array<Sign, 4> kSigns{{{"Failed to build '", "'"},
                                        {"Failed building wheel for ", " "},
                                        {"Failed to build `", "`="},
                                        {"╰─> ", "=<>!~;["}}};
  for (const std::string& line : lines | std::views::reverse)
    for (const auto& [begin, end] : kSigns) {
      const std::size_t at = line.find(begin);
      if (at == std::string::npos) continue;
      const std::string_view rest = std::string_view(line).substr(at + begin.size());
      const std::string_view name = rest.substr(0, rest.find_first_of(end));
      if (IsPackageName(name)) return " " + std::string(name);
    }
  return {};
}

/// The most useful line: a missing distribution, then the last line of a build's traceback or error,
/// then whatever the tool itself calls an error.
std::optional<std::string> OwnReason(const Lines& lines) {
  for (const std::string& line : lines) {
    if (Contains(line, "No matching distribution found for")) return Shorten(line);
    if (Contains(line, "No module named ensurepip"))
      return "Python's ensurepip is missing (Debian: install python3-venv)";
    if (line.ends_with("No module named pip") || line.ends_with("No module named 'pip'"))
      return "the runtime version has no pip: remove it, and install it again while a package index can be "
             "reached";
  }
  const auto is_exception = [](std::string_view line) {
    const std::string_view name = Trim(line).substr(0, Trim(line).find(':'));
    return name.size() < Trim(line).size() && name.find(' ') == std::string_view::npos &&
           (name.ends_with("Error") || name.ends_with("Exception") || name == "error");
  };
  const bool building = std::ranges::any_of(lines, [](const std::string& line) {
    return Contains(line, "subprocess-exited-with-error") || Contains(line, "Failed to build");
  });
  if (building)
    for (const std::string& line : lines | std::views::reverse)
      if (is_exception(line) && !Contains(line, "subprocess-exited-with-error"))
        return "the package" + Unbuilt(lines) + " cannot be built: " + Shorten(line);
  for (const std::string& line : lines | std::views::reverse)
    if (Trim(line).starts_with("Because ")) return Shorten(line);
  for (const std::string& line : lines)
    if ((line.starts_with("ERROR:") || line.starts_with("error:") || Contains(line, "×")) &&
        !Trim(line).empty() && !line.ends_with("Exception:"))
      return Shorten(line);
  for (const std::string& line : lines | std::views::reverse)
    if (is_exception(line)) return Shorten(line);
  return std::nullopt;
}

}  // namespace

Error ExplainFailure(std::string_view tool, const ToolEnd& end) {
  const std::string prefix = std::string(tool) + ": ";
  for (const std::string& line : end.tail)
    if (Contains(line, "No space left on device") || Contains(line, "Disk quota exceeded"))
      return {Code::kResourceExhausted, prefix + "No space left on device", {}};
  if (const auto broken = BrokenDownload(end.tail)) return Unavailable(prefix + *broken);
  if (const auto network = NetworkReason(end.tail))
    return Unavailable(prefix + "Could not reach the package index (" + *network + ")");
  if (const auto conflict = Conflict(end.tail)) return FailedPrecondition(prefix + *conflict);
  if (const auto reason = OwnReason(end.tail)) return FailedPrecondition(prefix + *reason);
  if (end.signal == SIGKILL) return {Code::kAborted, prefix + "it was killed (signal 9)", {}};
  if (end.signal != 0) return FailedPrecondition(prefix + "killed by signal " + std::to_string(end.signal));
  std::string last = end.tail.empty() ? std::string() : ": " + Shorten(end.tail.back());
  return FailedPrecondition(prefix + "exited with status " + std::to_string(end.exit_code) + last);
}

}  // namespace trainyard::environment
