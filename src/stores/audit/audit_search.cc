#include "stores/audit/audit_search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "base/overloaded.h"
#include "base/wire/time.h"
#include "stores/audit/audit_entry.h"
#include "stores/audit/audit_files.h"
#include "stores/audit/line_reader.h"

namespace trainyard::audit {
namespace {

using logging::v2::LogEntry;
using logs::LogPage;
using logs::LogQuery;
using logs::Order;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

SysTime TimeOf(const LogEntry& entry) { return wire::FromProto(entry.timestamp()); }

/// The position from which a page continues: an offset in a file, which may have been removed.
struct Position {
  AuditFile file;
  std::int64_t offset = 0;
};

std::array<std::int64_t, 3> Numbers(const Position& position) {
  return {position.file.day.time_since_epoch().count(), position.file.number, position.offset};
}

Position PositionOf(const std::array<std::int64_t, 3>& numbers) {
  const std::chrono::sys_days day{std::chrono::days(numbers[0])};
  return {.file = {.day = day, .number = numbers[1]}, .offset = numbers[2]};
}

/// All lines before `first` are earlier than the time; no line at or after `last` is.
struct Place {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The time of the first entry at or after `offset`, and where the next line begins. Nothing: there is none
/// nearby.
Result<std::optional<std::pair<SysTime, std::int64_t>>> NextTime(LineReader& reader, std::int64_t offset,
                                                                 std::int64_t end) {
  constexpr int kLinesMax = 10;
  for (int i = 0; i < kLinesMax && offset < end; ++i) {
    TY_TRY(const std::optional<LineReader::Line> line, reader.At(offset));
    if (!line) break;
    offset = line->end;
    if (const std::optional<LogEntry> entry = ParseEntry(line->text))
      return std::pair(TimeOf(*entry), offset);
  }
  return std::nullopt;
}

Result<Place> Bisect(LineReader& reader, SysTime time) {
  Place place{.first = 0, .last = reader.size()};
  while (place.last - place.first > LineReader::kLineBytesMax) {
    const std::int64_t middle = place.first + (place.last - place.first) / 2;
    TY_TRY(const std::int64_t start, reader.LineStart(middle));
    TY_TRY(const auto next, NextTime(reader, start, place.last));
    if (!next) break;  // no readable line is near: continue line by line
    if (next->first < time) {
      place.first = next->second;
    } else {
      place.last = start;
    }
  }
  return place;
}

/// One page.
class PageSearch {
 public:
  PageSearch(const LogQuery& query, std::string folder, int lines_max)
      : query_(query),
        folder_(std::move(folder)),
        lines_max_(lines_max),
        is_forward_(query.order == Order::kOldestFirst) {
    // The range of times that a file's name can express; no entry has times outside of it.
    constexpr std::chrono::sys_days kFirst{std::chrono::year(1970) / 1 / 1};
    constexpr std::chrono::sys_days kLast{std::chrono::year(2200) / 1 / 1};
    earliest_ = std::clamp<SysTime>(query.bounds.earliest, kFirst, kLast);
    latest_ = std::clamp<SysTime>(query.bounds.latest, kFirst, kLast);
    for (const std::string& project : query.projects) prefixes_.push_back("projects/" + project + "/logs/");
  }

  /// Returns where the next page begins; nothing: there is no next page.
  Result<std::optional<Position>> Run(const std::optional<Position>& from) {
    if (query_.bounds.nothing || earliest_ > latest_) return std::nullopt;
    TY_TRY(const std::vector<AuditFile> files, FilesFrom(from));
    int count = 0;
    for (const AuditFile& file : files) {
      Position position{.file = file, .offset = is_forward_ ? 0 : kEnd};
      const bool goes_on = from && from->file == file;
      if (++count > AuditSearch::kFilesMax) return position;
      if (goes_on) position.offset = from->offset;
      TY_TRY(const bool is_done, SearchFile(position, goes_on));
      if (!is_done) return position;
    }
    return std::nullopt;
  }

  LogPage page;

 private:
  Result<std::vector<AuditFile>> FilesFrom(const std::optional<Position>& from) const {
    TY_TRY(std::vector<AuditFile> files, ListAuditFiles(folder_));
    const auto first_day = std::chrono::floor<std::chrono::days>(earliest_);
    const auto last_day = std::chrono::floor<std::chrono::days>(latest_);
    std::erase_if(files, [&](const AuditFile& file) {
      if (file.day < first_day || file.day > last_day) return true;
      return from && (is_forward_ ? file < from->file : file > from->file);
    });
    if (!is_forward_) std::ranges::reverse(files);
    return files;
  }

  /// False: the page is full, and `position` is where the next one begins.
  Result<bool> SearchFile(Position& position, bool goes_on) {
    Result<LineReader> reader = LineReader::Open(folder_ + "/" + position.file.Name());
    if (!reader && reader.error().code == Code::kNotFound) return true;  // removed meanwhile
    if (!reader) return std::unexpected(reader.error());
    if (!goes_on) {
      const SysTime time = is_forward_ ? earliest_ : latest_ + std::chrono::nanoseconds(1);
      TY_TRY(const Place place, Bisect(*reader, time));
      position.offset = is_forward_ ? place.first : place.last;
    }
    for (;;) {
      TY_TRY(const std::optional<LineReader::Line> line,
             is_forward_ ? reader->At(position.offset) : reader->Before(position.offset));
      if (!line) return true;
      if (IsFull()) return false;
      ++searched_;
      position.offset = is_forward_ ? line->end : line->begin;
      if (!Take(line->text)) return true;
    }
  }

  [[nodiscard]] bool IsFull() const {
    return searched_ == lines_max_ || bytes_ >= AuditSearch::kPageBytesMax ||
           std::ssize(page.entries) == query_.page_size;
  }

  /// False: the following lines are outside of the range of times.
  bool Take(std::string_view text) {
    std::optional<LogEntry> entry = ParseEntry(text);
    if (!entry) return true;
    const SysTime time = TimeOf(*entry);
    if (is_forward_ ? time > latest_ : time < earliest_) return false;
    const auto is_its = [&entry](const std::string& prefix) { return entry->log_name().starts_with(prefix); };
    if (!std::ranges::any_of(prefixes_, is_its) || !wire::Matches(query_.filter, *entry)) return true;
    bytes_ += text.size();
    page.entries.push_back(*std::move(entry));
    return true;
  }

  const LogQuery& query_;
  std::string folder_;
  int lines_max_;
  bool is_forward_;
  SysTime earliest_, latest_;
  std::vector<std::string> prefixes_;
  int searched_ = 0;
  std::size_t bytes_ = 0;
};

Result<store::PageTokenKey> OpenKey(const std::string& path) {
  constexpr mode_t kMode = 0600;
  const Result<std::string> kept = ReadFile(path);
  if (kept) {
    const Result<store::PageTokenKey> key = store::ParsePageTokenKey(*kept);
    if (key) return key;
    Diagnose(DiagnosticLevel::kError,
             path + " is damaged (" + key.error().message +
                 "): it is made anew, and pages of the audit log are asked for from the "
                 "first one on");
  } else if (kept.error().code != Code::kNotFound) {
    return std::unexpected(
        Error{kept.error().code, kept.error().message + ". Remove " + path + ": it is made anew", {}});
  }
  const auto made = RandomBytes<store::PageTokenKey>();
  TY_RETURN_IF_ERROR(
      WriteFileAtomically(path, {reinterpret_cast<const char*>(made.data()), made.size()}, kMode));
  return made;
}

/// A token of a job's log is not valid here, even if everything else is the same.
std::string ContextOf(const LogQuery& query) { return "audit\n" + query.page_token_context; }

using wire::And;
using wire::Comparator;
using wire::Comparison;
using wire::Filter;
using wire::Not;
using wire::Or;
using wire::Search;

constexpr std::string_view kName = "cloudaudit.googleapis.com";

bool NamesOne(const Comparison& comparison) {
  if (comparison.path.size() != 1) return false;
  if (comparison.path.front() != "logName" && comparison.path.front() != "log_name") return false;
  switch (comparison.comparator) {
    case Comparator::kEqual:
    case Comparator::kHas: return comparison.value.contains(kName);
    case Comparator::kMatches:
      // A regular expression may have backslashes before the dots; "a|b" may match other logs too.
      return comparison.value.contains("cloudaudit") && !comparison.value.contains('|');
    case Comparator::kNotEqual:
    case Comparator::kLess:
    case Comparator::kLessOrEqual:
    case Comparator::kGreater:
    case Comparator::kGreaterOrEqual:
    case Comparator::kNotMatches: break;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<AuditSearch>> AuditSearch::Open(std::string folder, int lines_max) {
  TY_RETURN_IF_ERROR(MakePrivateFolder(folder));
  TY_TRY(const store::PageTokenKey key, OpenKey(folder + "/page-token-key"));
  return std::unique_ptr<AuditSearch>(new AuditSearch(std::move(folder), lines_max, key));
}

boost::asio::awaitable<Result<LogPage>> AuditSearch::List(LogQuery query) {
  return OnPool(thread_, [this, query = std::move(query)] { return Read(query); });
}

Result<LogPage> AuditSearch::Read(const LogQuery& query) const {
  std::optional<Position> from;
  if (!query.page_token.empty()) {
    std::array<std::int64_t, 3> numbers{};
    TY_RETURN_IF_ERROR(store::OpenPageToken(key_, ContextOf(query), query.page_token, numbers));
    from = PositionOf(numbers);
  }
  PageSearch search(query, folder_, lines_max_);
  TY_TRY(const std::optional<Position> next, search.Run(from));
  if (next) search.page.next_page_token = store::SealPageToken(key_, ContextOf(query), Numbers(*next));
  return std::move(search.page);
}

bool NamesAuditLogs(const Filter& filter) {  // NOLINT(misc-no-recursion): as deep as kFilterDepthMax
  return std::visit(
      Overloaded{[](const And& both) { return std::ranges::any_of(both.terms, NamesAuditLogs); },
                 [](const Or& either) {
                   return !either.terms.empty() && std::ranges::all_of(either.terms, NamesAuditLogs);
                 },
                 [](const Not&) { return false; },
                 [](const Comparison& comparison) { return NamesOne(comparison); },
                 [](const Search&) { return false; }},
      filter.node);
}

}  // namespace trainyard::audit
