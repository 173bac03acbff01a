#include "rules/measurement/metric_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/number.h"
#include "rules/measurement/message_fields.h"
#include "rules/measurement/summaries.h"

namespace trainyard::measurement {

namespace {

constexpr std::size_t kLineBytesMax = 4'096;
constexpr double kMilliseconds = 1'000;
constexpr std::string_view kDatabase = "mlflow.db";

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The offset of "metrics/" in the path of an MLflow metric; npos: the path is of no such file.
std::size_t MlflowMetricsAt(std::string_view path) {
  const std::vector<std::string_view> parts = Split(path, '/');
  constexpr std::size_t kBehind = 4;  // an experiment, a run, "metrics" and a name
  for (std::size_t i = 0; i + kBehind < parts.size(); ++i) {
    if (parts[i] == "mlruns" && parts[i + 3] == "metrics")
      return static_cast<std::size_t>(parts[i + 3].data() - path.data());
  }
  return std::string_view::npos;
}

bool IsWandbFile(std::string_view path) {
  const std::vector<std::string_view> parts = Split(path, '/');
  return parts.size() >= 3 && parts[parts.size() - 3] == "wandb" && parts.back().starts_with("run-") &&
         parts.back().ends_with(".wandb");
}

/// Python's and JSON's spellings of a number.
std::optional<double> FloatOf(std::string_view text) {
  if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
  return WholeNumber<double>(text);
}

std::optional<SummaryValue> MlflowValue(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::vector<std::string_view> words = Split(line, ' ');
  constexpr std::size_t kWithDataSet = 5;
  if (words.size() != 2 && words.size() != 3 && words.size() != kWithDataSet) return std::nullopt;
  const auto time = WholeNumber<std::int64_t>(words[0]);
  const auto value = FloatOf(words[1]);
  const auto step = words.size() > 2 ? WholeNumber<std::int64_t>(words[2]) : std::int64_t{0};
  if (!time || !value || !step) return std::nullopt;
  return SummaryValue{.step = *step, .time_s = static_cast<double>(*time) / kMilliseconds, .value = *value};
}

/// Whole numbers lie as integers, whatever the column's type.
std::optional<double> NumberIn(const SqliteTable::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

/// MLflow's databases have the largest numbers for the infinite ones.
double Unbounded(double value) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  if (value == kLargest) return std::numeric_limits<double>::infinity();
  return value == -kLargest ? -std::numeric_limits<double>::infinity() : value;
}

/// A step as programs write it, which may be any number; 0: it is none.
std::int64_t StepOf(double number) {
  constexpr double kLimit = 9.2e18;  // what is beyond has no whole number here
  return number > -kLimit && number < kLimit ? static_cast<std::int64_t>(number) : 0;
}

std::int64_t StepIn(const SqliteTable::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return StepOf(NumberIn(value).value_or(0));
}

// W&B: a file header, then blocks of records in pieces.
constexpr std::string_view kWandbHeader = std::string_view(":W&B\xE1\xBE\0", 7);
constexpr std::uint64_t kBlockBytes = 32'768;
/// A longer history is left out: it takes many times as much memory when it is read.
constexpr std::size_t kHistoryBytesMax = std::size_t{1} << 20;
constexpr std::size_t kPieceHeadBytes = 7;  // CRC, length, type
constexpr std::uint8_t kFull = 1;
constexpr std::uint8_t kFirst = 2;
constexpr std::uint8_t kLast = 4;

bool HasCrc(std::uint8_t type, std::string_view piece, std::uint32_t crc) {
  const auto bytes = [](std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); };
  const char first = static_cast<char>(type);
  const uLong of_type = crc32(0, bytes({&first, 1}), 1);
  return crc32(of_type, bytes(piece), static_cast<uInt>(piece.size())) == crc;
}

/// HistoryItem: key = 1, nested_key = 2, value_json = 16.
void TakeItem(std::string_view bytes, std::vector<SummaryValue>& values) {
  std::string key;
  std::string nested;
  std::string_view json;
  for (MessageFields item(bytes); item.Next();) {
    if (item.number == 1) key = item.bytes;
    if (item.number == 2) nested += (nested.empty() ? "" : ".") + std::string(item.bytes);
    if (item.number == 16) json = item.bytes;
  }
  if (const auto value = FloatOf(json))
    values.push_back({.tag = nested.empty() ? std::move(key) : std::move(nested), .value = *value});
}

/// Record: history = 2; HistoryRecord: item = 1, step = 2; HistoryStep: num = 1.
std::vector<SummaryValue> HistoryOf(std::string_view record) {
  std::vector<SummaryValue> values;
  std::int64_t step = 0;
  double time_s = 0;
  for (MessageFields outer(record); outer.Next();) {
    if (outer.number != 2) continue;
    for (MessageFields history(outer.bytes); history.Next();) {
      if (history.number == 1) TakeItem(history.bytes, values);
      if (history.number != 2) continue;
      for (MessageFields number(history.bytes); number.Next();)
        if (number.number == 1) step = static_cast<std::int64_t>(number.value);
    }
  }
  for (const SummaryValue& value : values) {
    if (value.tag == "_step") step = StepOf(value.value);
    if (value.tag == "_timestamp") time_s = value.value;
  }
  std::erase_if(values, [](const SummaryValue& value) { return value.tag.starts_with('_'); });
  for (SummaryValue& value : values) {
    value.step = step;
    value.time_s = time_s;
  }
  return values;
}

}  // namespace

MetricFile KindOfMetricFile(std::string_view path) {
  if (MlflowMetricsAt(path) != std::string_view::npos) return MetricFile::kMlflow;
  if (path == kDatabase || path.ends_with("/" + std::string(kDatabase))) return MetricFile::kMlflowDatabase;
  if (IsEventFile(path.substr(path.rfind('/') + 1))) return MetricFile::kEvents;
  return IsWandbFile(path) ? MetricFile::kWandb : MetricFile::kNone;
}

MlflowMetric MlflowMetricOf(std::string_view path) {
  const std::size_t at = MlflowMetricsAt(path);
  return {.run = path.substr(0, at), .name = path.substr(at + std::string_view("metrics/").size())};
}

bool MlflowReader::Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
                        const EventReader::Take& take) {
  FileWindow window(read_at);
  while (!lost_ && window.bytes_read() < bytes_max) {
    if (offset_ >= size) return false;
    const std::string_view bytes = window.At(offset_, std::min<std::uint64_t>(kLineBytesMax, size - offset_));
    const std::size_t end = bytes.substr(0, kLineBytesMax).find('\n');
    lost_ = end == std::string_view::npos && bytes.size() >= kLineBytesMax;
    if (end == std::string_view::npos) return false;
    const auto value = MlflowValue(bytes.substr(0, end));
    offset_ += end + 1;
    if (value) take(*value);
  }
  return !lost_;
}

bool MlflowDatabaseReader::Read(std::uint64_t size, std::uint64_t bytes_max,
                                const FileWindow::ReadAt& read_at, const EventReader::Take& take) {
  return table_.Read(size, bytes_max, read_at, [this, &take](const SqliteTable::Row& row) {
    const auto at = [this, &row](std::string_view column) {
      const auto place = table_.ColumnOf(column);
      return place && *place < row.size() ? row[*place] : SqliteTable::Value();
    };
    const SqliteTable::Value key = at("key");
    const SqliteTable::Value run = at("run_uuid");
    const auto value = NumberIn(at("value"));
    const auto time = NumberIn(at("timestamp"));
    const auto* tag = std::get_if<std::string_view>(&key);
    const auto* run_id = std::get_if<std::string_view>(&run);
    if (tag == nullptr || run_id == nullptr || !value || !time) return;
    const bool is_nan = NumberIn(at("is_nan")).value_or(0) != 0;
    take({.tag = std::string(*tag),
          .run = std::string(*run_id),
          .step = StepIn(at("step")),
          .time_s = *time / kMilliseconds,
          .value = is_nan ? std::numeric_limits<double>::quiet_NaN() : Unbounded(*value)});
  });
}

void WandbReader::TakePiece(std::uint8_t type, std::string_view piece, const EventReader::Take& take) {
  if (type == kFull || type == kFirst) {
    parts_.clear();
    is_whole_ = true;
    record_at_ = offset_;
  }
  if (!is_whole_ || parts_.size() + piece.size() > kHistoryBytesMax) {
    is_whole_ = false;
    parts_.clear();
    return;
  }
  parts_ += piece;
  if (type != kFull && type != kLast) return;
  for (const SummaryValue& value : HistoryOf(parts_)) take(value);
  parts_.clear();
  is_whole_ = false;
}

/// A job may have thousands of files whose last record is cut: none of them is kept in memory.
bool WandbReader::Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
                       const EventReader::Take& take) {
  const bool more = ReadPieces(size, bytes_max, read_at, take);
  if (more) return true;
  if (is_whole_) offset_ = record_at_;
  is_whole_ = false;
  parts_.clear();
  parts_.shrink_to_fit();
  return false;
}

bool WandbReader::ReadPieces(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at,
                             const EventReader::Take& take) {
  FileWindow window(read_at);
  if (offset_ == 0) {
    if (size < kWandbHeader.size()) return false;
    lost_ = window.At(0, kWandbHeader.size()).substr(0, kWandbHeader.size()) != kWandbHeader;
    offset_ = kWandbHeader.size();
  }
  while (!lost_ && window.bytes_read() < bytes_max) {
    const std::uint64_t left = kBlockBytes - offset_ % kBlockBytes;
    const std::uint64_t begin = left < kPieceHeadBytes ? offset_ + left : offset_;
    if (size < begin + kPieceHeadBytes) return false;  // what is behind the end was not read
    offset_ = begin;
    const std::string_view head = window.At(offset_, kPieceHeadBytes).substr(0, kPieceHeadBytes);
    if (head.size() < kPieceHeadBytes) return false;
    const auto crc = LoadFrom<std::uint32_t>(head);
    const auto length = LoadFrom<std::uint16_t>(head.substr(sizeof crc));
    const auto type = static_cast<std::uint8_t>(head.back());
    lost_ = type < kFull || type > kLast || offset_ % kBlockBytes + kPieceHeadBytes + length > kBlockBytes;
    if (lost_ || size < offset_ + kPieceHeadBytes + length) return false;
    const std::string_view piece = window.At(offset_ + kPieceHeadBytes, length).substr(0, length);
    if (piece.size() < length) return false;
    if (HasCrc(type, piece, crc))
      TakePiece(type, piece, take);
    else
      is_whole_ = false;
    offset_ += kPieceHeadBytes + length;
  }
  return !lost_;
}

}  // namespace trainyard::measurement
