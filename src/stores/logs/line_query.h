#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "trainyard/logging/v2/logging.pb.h"

/// Queries for a job's lines by their numbers (control/v1/log_window.proto). Values.
namespace trainyard::logs {

inline constexpr int kWindowLinesDefault = 100;
inline constexpr int kWindowLinesMax = 1'000;
inline constexpr int kMatchesDefault = 100;
inline constexpr int kMatchesMax = 1'000;
inline constexpr int kSummaryPartsDefault = 500;
inline constexpr int kSummaryPartsMax = 5'000;
inline constexpr std::size_t kSearchTextBytesMax = 2'000;

/// Bytes of a line's text that are shown; the rest is cut off at the end of a character.
inline constexpr std::size_t kShownTextMax = 10'000;

/// The wanted lines. Empty members match all.
struct LineFilter {
  std::string replica;  ///< task name, or "service"
  std::string trial_id;
  logging::v2::LogEntry::Severity severity_min = logging::v2::LogEntry::DEFAULT;
  friend bool operator==(const LineFilter&, const LineFilter&) = default;
};

/// The place where a window begins, or for BeforeLine where it ends.
struct FromLine {
  std::int64_t number = 0;
  friend bool operator==(const FromLine&, const FromLine&) = default;
};
struct FromTime {
  SysTime time;  ///< the first line that is shown with this time or a later one
  friend bool operator==(const FromTime&, const FromTime&) = default;
};
struct BeforeLine {
  std::int64_t number = 0;
  friend bool operator==(const BeforeLine&, const BeforeLine&) = default;
};
struct AtEnd {
  friend bool operator==(const AtEnd&, const AtEnd&) = default;
};
using WindowPlace = std::variant<FromLine, FromTime, BeforeLine, AtEnd>;

struct WindowQuery {
  std::int64_t job_uid = 0;
  WindowPlace place;
  int count = kWindowLinesDefault;
  LineFilter filter;
  bool whole = false;  ///< whole texts and fields, not cut
};

struct SearchQuery {
  std::int64_t job_uid = 0;
  std::string text;
  bool regex = false;  ///< RE2; else plain text
  bool match_case = false;
  std::optional<std::int64_t> from;  ///< as LogMatches.searched_to; absent: from the beginning, or the end
  bool backward = false;
  int count = kMatchesDefault;
  LineFilter filter;
};

/// The bounds of one search: what it did not search is left to the next one.
struct SearchLimits {
  std::chrono::milliseconds time = std::chrono::milliseconds(400);
  std::int64_t lines = 5'000'000;
};

enum class DownloadForm { kText, kJson };

/// A piece of a download: the lines from `from` to before `end`, as many as fit in a piece.
struct PieceQuery {
  std::int64_t job_uid = 0;
  std::int64_t from = 0;
  std::int64_t end = 0;
  LineFilter filter;
  DownloadForm form = DownloadForm::kText;
};

struct Piece {
  std::string text;
  std::int64_t next = 0;  ///< `end`: there is nothing more
};

}  // namespace trainyard::logs
