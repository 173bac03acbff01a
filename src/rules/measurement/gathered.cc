#include "rules/measurement/gathered.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "base/crc32c.h"
#include "base/extremes.h"
#include "base/wire/utf8.h"

namespace trainyard::measurement {

namespace {

using Indexes = std::vector<std::size_t>;

Columns Select(const Columns& from, std::span<const std::size_t> indexes) {
  Columns to;
  to.steps.reserve(indexes.size());
  to.times.reserve(indexes.size());
  to.values.reserve(indexes.size());
  for (const std::size_t i : indexes) to.Append(from.steps[i], from.times[i], from.values[i]);
  return to;
}

/// The points of a range. Steps are in order, times need not be.
Indexes Within(const Columns& columns, const Range& range) {
  const std::vector<double>& axis = range.axis == Range::Axis::kStep ? columns.steps : columns.times;
  Indexes inside;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (axis[i] >= range.from && axis[i] <= range.to) inside.push_back(i);
  }
  return inside;
}

constexpr double kTimeUnits = 1'000;  ///< in a second: times are kept in milliseconds

/// Rounds a time: shorter in JSON, and exact enough for curves.
double Shown(double time_s) {
  return std::isfinite(time_s) ? std::round(time_s * kTimeUnits) / kTimeUnits : 0;
}

/// The size of a file's beginning that distinguishes it from another one of the same name: the first record
/// has a time.
constexpr std::size_t kBeginningBytes = 4'096;

std::uint32_t CrcOfBeginning(std::size_t bytes, const FileWindow::ReadAt& read_at) {
  std::array<char, kBeginningBytes> buffer;
  std::size_t read = 0;
  while (read < bytes) {
    const std::size_t got = read_at(read, std::span(buffer).first(bytes).subspan(read));
    if (got == 0) break;
    read += got;
  }
  return Crc32c(std::string_view(buffer.data(), read));
}

/// The estimated memory of an entry of a map or a deque, without its texts.
constexpr std::size_t kEntryBytes = 250;

std::size_t BytesOf(const SeriesName& name) {
  return kEntryBytes + name.trial_id.size() + name.run.size() + name.tag.size();
}
std::size_t BytesOf(const KeptSummary& summary) {
  return kEntryBytes + summary.value.tag.size() + summary.value.beginning.size() + summary.file.size();
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint64_t OffsetOf(
    const std::variant<EventReader, MlflowReader, MlflowDatabaseReader, WandbReader>& any) {
  return std::visit([](const auto& reader) { return reader.offset(); }, any);
}

bool IsAfter(const Columns& columns, double step, double time_s) {
  if (columns.empty()) return true;
  return std::pair(step, time_s) > std::pair(columns.steps.back(), columns.times.back());
}

}  // namespace

void Columns::Append(double step, double time_s, float value) {
  steps.push_back(step);
  times.push_back(time_s);
  values.push_back(value);
}

Columns Ordered(Columns columns) {
  const auto key = [&columns](std::size_t i) { return std::pair(columns.steps[i], columns.times[i]); };
  Indexes order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&key](std::size_t i) { return std::pair(key(i), i); });
  Indexes kept;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k + 1 == order.size() || key(order[k]) != key(order[k + 1])) kept.push_back(order[k]);
  }
  return Select(columns, kept);
}

Part PartOf(const Columns& ordered, const Range& range, std::size_t points_max) {
  const Indexes inside = Within(ordered, range);
  std::vector<double> values;
  values.reserve(inside.size());
  for (const std::size_t i : inside) values.push_back(ordered.values[i]);
  Indexes kept = ExtremesOf(values, points_max);
  for (std::size_t& k : kept) k = inside[k];
  return {.columns = Select(ordered, kept), .points = inside.size()};
}

SeriesName Gathered::NameOf(std::string_view path, const std::string& tag) const {
  if (KindOfMetricFile(path) == MetricFile::kMlflow) path = MlflowMetricOf(path).run;
  const std::size_t slash = path.rfind('/');
  std::string_view folder = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  SeriesName name{.trial_id = {}, .run = {}, .tag = wire::ReplaceMalformed(tag)};
  const std::size_t end = std::min(folder.find('/'), folder.size());
  if (split_trials_ && IsNumber(folder.substr(0, end))) {
    name.trial_id = folder.substr(0, end);
    folder.remove_prefix(std::min(end + 1, folder.size()));
  }
  name.run = folder;
  return name;
}

/// False: the limit is reached.
bool Gathered::TakeRoom(std::size_t bytes) {
  const bool has_room = names_bytes_ + bytes <= kNamesBytesMax;
  if (has_room) names_bytes_ += bytes;
  incomplete_ = incomplete_ || !has_room;
  return has_room;
}

/// Tags that the reader remembers and names share one limit.
void Gathered::CountTags(File& file) {
  auto* const reader = std::get_if<EventReader>(&file.reader);
  if (reader == nullptr) return;
  names_bytes_ += reader->memory_bytes() - file.tags_bytes;
  file.tags_bytes = reader->memory_bytes();
  reader->LimitMemory(file.tags_bytes + kNamesBytesMax - names_bytes_);
}

Gathered::File Gathered::NewFile(std::string_view path, std::uint64_t id) {
  File file;
  file.id = id;
  const MetricFile kind = KindOfMetricFile(path);
  if (kind == MetricFile::kMlflow) file.reader = MlflowReader();
  if (kind == MetricFile::kMlflowDatabase) file.reader = MlflowDatabaseReader();
  if (kind == MetricFile::kWandb) file.reader = WandbReader();
  return file;
}

/// Null: the limit is reached.
Gathered::File* Gathered::FindOrAdd(std::string_view path, FileVersion now) {
  const auto found = files_.find(path);
  if (found != files_.end()) return &found->second;
  incomplete_ = incomplete_ || files_.size() >= kFilesReadMax;
  if (files_.size() >= kFilesReadMax || !TakeRoom(kEntryBytes + path.size())) return nullptr;
  return &files_.emplace(path, NewFile(path, now.id)).first->second;
}

bool Gathered::Read(std::string_view path, FileVersion now, std::uint64_t bytes_max,
                    const FileWindow::ReadAt& read_at) {
  File* const found = FindOrAdd(path, now);
  if (found == nullptr) return false;
  File& file = *found;
  if (IsAnother(file, now, read_at)) {
    names_bytes_ -= file.tags_bytes;
    file = NewFile(path, now.id);
  }
  file.id = now.id;
  CountTags(file);
  const EventReader::Take take = [this, path, &file](const SummaryValue& value) {
    CountTags(file);
    Take(path, value);
    CountTags(file);
  };
  const bool more =
      std::visit([&](auto& reader) { return reader.Read(now.size, bytes_max, read_at, take); }, file.reader);
  CountTags(file);
  const std::size_t beginning = std::min<std::uint64_t>(OffsetOf(file.reader), kBeginningBytes);
  if (beginning > file.beginning_bytes) {
    file.beginning_bytes = beginning;
    file.beginning_crc = CrcOfBeginning(beginning, read_at);
  }
  return more;
}

/// Whether the file is a different one that does not continue the part already read. A file that was
/// rewritten with more at its end continues it.
bool Gathered::IsAnother(const File& file, FileVersion now, const FileWindow::ReadAt& read_at) {
  if (now.size < OffsetOf(file.reader)) return true;
  if (now.id == file.id) return false;
  const bool is_lost = std::visit([](const auto& reader) { return reader.lost(); }, file.reader);
  return is_lost || CrcOfBeginning(file.beginning_bytes, read_at) != file.beginning_crc;
}

void Gathered::Take(std::string_view path, const SummaryValue& value) {
  const bool is_mlflow = KindOfMetricFile(path) == MetricFile::kMlflow;
  SeriesName name = NameOf(path, is_mlflow ? std::string(MlflowMetricOf(path).name) : value.tag);
  if (!value.run.empty()) name.run += (name.run.empty() ? "" : "/") + wire::ReplaceMalformed(value.run);
  if (value.kind == SummaryValue::Kind::kScalar) return TakeScalar(std::move(name), value);
  TakeSummary(name, {.value = value, .file = std::string(path)});
}

void Gathered::TakeScalar(SeriesName name, const SummaryValue& value) {
  auto found = series_.find(name);
  if (found == series_.end()) {
    if (series_.size() >= kSeriesKeptMax) {
      incomplete_ = true;
      return;
    }
    if (!TakeRoom(BytesOf(name))) return;
    found = series_.emplace(std::move(name), Series{}).first;
  }
  Series& series = found->second;
  const auto step = static_cast<double>(value.step);
  const double time_s = Shown(value.time_s);
  series.ordered = series.ordered && IsAfter(series.columns, step, time_s);
  series.columns.Append(step, time_s, static_cast<float>(value.value));
  if (++points_ > kPointsKeptMax) ThinLongest();
}

void Gathered::Put(const SeriesName& name, Columns columns) {
  if (!series_.contains(name) && !TakeRoom(BytesOf(name))) return;
  Series& series = series_[name];
  points_ -= series.columns.size();
  series.columns = Ordered(std::move(columns));
  points_ += series.columns.size();
}

void Gathered::TakeSummary(const SeriesName& name, KeptSummary summary) {
  const bool is_new = !summaries_.contains(name);
  incomplete_ = incomplete_ || (is_new && summaries_.size() >= kSeriesKeptMax);
  if (is_new && summaries_.size() >= kSeriesKeptMax) return;
  if (!TakeRoom(BytesOf(summary) + (is_new ? BytesOf(name) : 0))) return;
  std::deque<KeptSummary>& kept = summaries_[name];
  const auto newer = [](const KeptSummary& one, const KeptSummary& other) {
    return one.value.step > other.value.step;
  };
  const auto place = std::ranges::lower_bound(kept, summary, newer);
  if (place != kept.end() && place->value.step == summary.value.step) {
    names_bytes_ -= BytesOf(*place);
    *place = std::move(summary);
    return;
  }
  kept.insert(place, std::move(summary));
  ++summary_count_;
  if (kept.size() <= kSummariesOfTagMax && summary_count_ <= kSummariesKeptMax) return;
  names_bytes_ -= BytesOf(kept.back());
  kept.pop_back();
  --summary_count_;
  incomplete_ = true;
}

void Gathered::ThinLongest() {
  const auto longest =
      std::ranges::max_element(series_, {}, [](const auto& entry) { return entry.second.columns.size(); });
  Series& series = longest->second;
  const std::size_t before = series.columns.size();
  const Columns ordered = series.ordered ? std::move(series.columns) : Ordered(std::move(series.columns));
  series.columns = PartOf(ordered, {}, before / 2).columns;
  series.ordered = true;
  series.thinned = true;
  points_ = points_ - before + series.columns.size();
  incomplete_ = true;
}

void Gathered::Settle() {
  for (auto& [name, series] : series_) {
    if (series.ordered) continue;
    const std::size_t before = series.columns.size();
    series.columns = Ordered(std::move(series.columns));
    series.ordered = true;
    points_ = points_ - before + series.columns.size();
  }
}

}  // namespace trainyard::measurement
