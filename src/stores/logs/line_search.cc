#include "stores/logs/log_lines.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/logs/chunk_walk.h"
#include "stores/logs/line_matcher.h"
#include "stores/logs/line_view.h"

namespace trainyard::logs {

namespace {

using control::v1::LogMatches;
using std::chrono::steady_clock;

constexpr std::size_t kMatchesBytesMax = std::size_t{2} << 20;
constexpr std::int64_t kLinesBetweenClocks = 1'000;

/// One search: what it has found, and when it must end.
class Search {
 public:
  Search(const SearchQuery& query, const LineMatcher& matcher, SearchLimits limits)
      : query_(query), matcher_(matcher), lines_max_(limits.lines), end_(steady_clock::now() + limits.time) {}

  [[nodiscard]] bool IsOver() const {
    return is_full_ || lines_ >= lines_max_ || steady_clock::now() >= end_;
  }

  /// Searches one line; false: the search is over, and this line was not searched. If a search's first line
  /// takes longer than the time limit, only its beginning is searched: the next search continues after it.
  bool Look(const WalkedChunk& chunk, const NumberedLine& line) {
    if (is_full_ || (IsClockDue() && IsOver())) return false;
    const LineMatcher::Answer answer = LookAt(line);
    if (answer == LineMatcher::Answer::kOutOfTime && !std::exchange(is_first_, false)) return false;
    is_first_ = false;
    if (answer != LineMatcher::Answer::kYes) return true;
    control::v1::LogLineShown& shown = *matches_.add_lines();
    shown = ShowLine(chunk, line, false);
    bytes_ += shown.ByteSizeLong();
    is_full_ = matches_.lines_size() >= query_.count || bytes_ >= kMatchesBytesMax;
    return true;
  }

  /// Skips lines of a chunk that cannot match.
  void PassOver(std::int64_t lines) { lines_ += lines; }

  [[nodiscard]] LogMatches TakeMatches() && { return std::move(matches_); }

 private:
  bool IsClockDue() {
    const bool is_due = ++lines_ % kLinesBetweenClocks == 0 || steps_ >= kStepsAtOnce;
    if (is_due) steps_ = 0;
    return is_due;
  }

  LineMatcher::Answer LookAt(const NumberedLine& line) {
    if (SeverityOf(line.raw) < query_.filter.severity_min) return LineMatcher::Answer::kNo;
    steps_ += matcher_.StepsOf(line.raw.bytes.size());
    const auto is_over = [this] { return steady_clock::now() >= end_; };
    const std::optional<LineView> view = ViewLine(line.raw.bytes);
    if (view) return matcher_.Look(view->text, is_over);
    return matcher_.Look(ParseLine(line.raw.bytes).text(), is_over);
  }

  const SearchQuery& query_;
  const LineMatcher& matcher_;
  const std::int64_t lines_max_;
  const steady_clock::time_point end_;
  LogMatches matches_;
  std::int64_t lines_ = 0;
  std::uint64_t steps_ = 0;  ///< since the last check of the clock
  bool is_first_ = true;
  std::size_t bytes_ = 0;
  bool is_full_ = false;
};

/// Searches a whole chunk before its lines are parsed. Matches and colour codes are searched for separately,
/// each once per chunk: so a text that does not occur is searched for only once, even if every line has a
/// code.
class QuickLook {
 public:
  QuickLook(const LineMatcher& matcher, std::string_view lines) : matcher_(matcher), lines_(lines) {
    GoToMatch(0);
    GoToCode(0);
  }

  /// Whether the line must be searched.
  bool Touches(std::string_view line) {
    if (!matcher_.HasQuickLook()) return true;
    const auto end = static_cast<std::size_t>(line.data() - lines_.data()) + line.size();
    const bool has_match = match_ && *match_ < end;
    const bool has_code = code_ && *code_ < end;
    if (has_match) GoToMatch(end);
    if (has_code) GoToCode(end);
    return has_match || has_code;
  }
  [[nodiscard]] bool IsAtEnd() const noexcept { return matcher_.HasQuickLook() && !match_ && !code_; }

 private:
  void GoToMatch(std::size_t from) {
    if (matcher_.HasQuickLook()) match_ = matcher_.QuickLook(lines_, from);
  }
  void GoToCode(std::size_t from) {
    if (matcher_.HasQuickLook() && matcher_.LooksThroughColours()) code_ = FindColourCode(lines_, from);
  }

  const LineMatcher& matcher_;
  std::string_view lines_;
  std::optional<std::size_t> match_;
  std::optional<std::size_t> code_;
};

/// @return the line from which the search continues within this chunk; nothing: the chunk is finished.
Result<std::optional<std::int64_t>> SearchForward(Search& search, const LineMatcher& matcher,
                                                  const WalkedChunk& chunk, std::int64_t from,
                                                  std::int64_t end) {
  QuickLook quick(matcher, chunk.contents.lines);
  std::optional<std::int64_t> left;
  std::int64_t passed = 0;
  if (!quick.IsAtEnd()) {
    TY_RETURN_IF_ERROR(chunk.ForEach(from, end, [&](const NumberedLine& line) {
      if (!quick.Touches(line.raw.bytes)) {
        ++passed;
        return !quick.IsAtEnd();
      }
      if (search.Look(chunk, line)) return true;
      left = line.number;
      return false;
    }));
  } else {
    passed = chunk.place.lines;
  }
  search.PassOver(passed);
  return left;
}

Result<std::optional<std::int64_t>> SearchBackward(Search& search, const LineMatcher& matcher,
                                                   const WalkedChunk& chunk, std::int64_t before) {
  if (QuickLook(matcher, chunk.contents.lines).IsAtEnd()) {
    search.PassOver(chunk.place.lines);
    return std::nullopt;
  }
  TY_TRY(const std::vector<NumberedLine> lines, chunk.Reversed(chunk.place.first, before));
  for (const NumberedLine& line : lines)
    if (!search.Look(chunk, line)) return line.number + 1;
  return std::nullopt;
}

}  // namespace

Result<LogMatches> SearchLines(JobChunks& chunks, const SearchQuery& query, SearchLimits limits) {
  TY_TRY(const LineMatcher matcher,
         LineMatcher::Make(query.text, {.regex = query.regex, .match_case = query.match_case}));
  TY_TRY(const std::int64_t total, chunks.Total(query.job_uid));
  const std::int64_t at = std::min(query.from.value_or(query.backward ? total : 0), total);
  const std::int64_t last = query.backward ? 0 : total;
  std::int64_t searched_to = last;
  Search search(query, matcher, limits);
  ChunkWalk walk(chunks, query.job_uid, query.filter,
                 query.backward ? WalkDirection::kBackward : WalkDirection::kForward, at);
  while (at != last) {
    TY_TRY(const WalkedChunk* chunk, walk.Next());
    if (chunk == nullptr || (!query.backward && chunk->place.first >= total)) break;
    TY_TRY(const std::optional<std::int64_t> left, query.backward
                                                       ? SearchBackward(search, matcher, *chunk, at)
                                                       : SearchForward(search, matcher, *chunk, at, total));
    if (left || search.IsOver()) {
      searched_to = left.value_or(std::min(walk.position(), total));
      break;
    }
  }
  if (walk.IsCut()) searched_to = std::min(walk.position(), total);
  LogMatches matches = std::move(search).TakeMatches();
  matches.set_searched_to(searched_to);
  matches.set_complete(searched_to == last);
  return matches;
}

}  // namespace trainyard::logs
