#include "rules/measurement/metric_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rules/measurement/gathered.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;

bool Read(Gathered& gathered, const std::string& path, const std::string& bytes, std::uint64_t id = 1,
          std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max()) {
  const FileWindow::ReadAt read_at = [&bytes](std::uint64_t offset, std::span<char> buffer) {
    const std::size_t got = std::min<std::size_t>(buffer.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), got, buffer.begin());
    return got;
  };
  const bool more = gathered.Read(path, {.id = id, .size = bytes.size()}, bytes_max, read_at);
  gathered.Settle();
  return more;
}

TEST(MetricFiles, AreKnownByTheirPaths) {
  EXPECT_EQ(KindOfMetricFile("events.out.tfevents.1"), MetricFile::kEvents);
  EXPECT_EQ(KindOfMetricFile("workdir/mlruns/0/ab12/metrics/val/loss"), MetricFile::kMlflow);
  EXPECT_EQ(KindOfMetricFile("mlruns/0/ab12/metrics"), MetricFile::kNone);
  EXPECT_EQ(KindOfMetricFile("mlruns/0/ab12/params/lr"), MetricFile::kNone);
  EXPECT_EQ(KindOfMetricFile("workdir/wandb/offline-run-1-ab/run-ab.wandb"), MetricFile::kWandb);
  EXPECT_EQ(KindOfMetricFile("other/offline-run-1-ab/run-ab.wandb"), MetricFile::kNone);
  EXPECT_EQ(KindOfMetricFile("train.py"), MetricFile::kNone);
}

TEST(MetricFiles, MlflowsLinesAreACurve) {
  Gathered gathered(false);
  const std::string lines =
      "1700000000500 0.5 1\n1700000001000 nan 2\nno line\n1700000002000 2.5e-1 3 data 1a2b\n1700000003000 "
      "0.1 4";
  Read(gathered, "workdir/mlruns/0/ab12/metrics/val/loss", lines);
  const Columns& columns = gathered.series().at({.run = "workdir/mlruns/0/ab12", .tag = "val/loss"}).columns;
  EXPECT_THAT(columns.steps, ElementsAre(1, 2, 3));  // the last line may go on
  EXPECT_THAT(columns.times, ElementsAre(1700000000.5, 1700000001, 1700000002));
  EXPECT_EQ(columns.values[2], 0.25F);
  EXPECT_TRUE(std::isnan(columns.values[1]));
  Read(gathered, "workdir/mlruns/0/ab12/metrics/val/loss", lines + "5\n", 2);
  EXPECT_EQ(gathered.points(), 4U);
}

TEST(MetricFiles, MlflowsOldestLinesHaveNoStep) {
  Gathered gathered(true);
  Read(gathered, "3/mlruns/1/c/metrics/acc", "1000 0.5\n2000 0.75\n");
  EXPECT_EQ(gathered.series().at({.trial_id = "3", .run = "mlruns/1/c", .tag = "acc"}).columns,
            (Columns{.steps = {0, 0}, .times = {1, 2}, .values = {0.5, 0.75}}));
}

TEST(MetricFiles, ALineWithoutAnEndIsNoMetric) {
  Gathered gathered(false);
  EXPECT_FALSE(Read(gathered, "mlruns/1/c/metrics/acc", std::string(100'000, '1')));
  EXPECT_TRUE(gathered.series().empty());
}

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string Bytes(std::uint64_t number, const std::string& content) {
  return Varint(number << 3 | 2) + Varint(content.size()) + content;
}

struct Item {
  std::vector<std::string> key;
  std::string json;
};
std::string History(std::uint64_t step, const std::vector<Item>& items) {
  std::string history;
  for (const Item& item : items) {
    std::string bytes;
    for (const std::string& part : item.key) bytes += Bytes(2, part);
    history += Bytes(1, bytes + Bytes(16, item.json));
  }
  return Bytes(2, history + Bytes(2, Varint(1 << 3) + Varint(step)));
}

/// Adds a record in pieces that fill the blocks.
void Append(const std::string& record, std::string& file) {
  std::size_t at = 0;
  do {
    std::size_t left = 32'768 - file.size() % 32'768;
    if (left < 7) {
      file.append(left, '\0');
      left = 32'768;
    }
    const std::size_t length = std::min(left - 7, record.size() - at);
    const bool is_first = at == 0;
    const bool is_last = at + length == record.size();
    const char type = is_first && is_last ? 1 : is_first ? 2 : is_last ? 4 : 3;
    const std::string piece = record.substr(at, length);
    uLong crc = crc32(0, reinterpret_cast<const Bytef*>(&type), 1);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
    const auto crc32_bits = static_cast<std::uint32_t>(crc);
    const auto length16 = static_cast<std::uint16_t>(length);
    file.append(reinterpret_cast<const char*>(&crc32_bits), 4);
    file.append(reinterpret_cast<const char*>(&length16), 2);
    file += type + piece;
    at += length;
  } while (at < record.size());
}
std::string Wandb(const std::vector<std::string>& records) {
  std::string file(":W&B\xE1\xBE\0", 7);
  for (const std::string& record : records) Append(record, file);
  return file;
}

const char* const kWandb = "wandb/offline-run-1-ab/run-ab.wandb";
const SeriesName kLoss{.run = "wandb/offline-run-1-ab", .tag = "loss"};

TEST(MetricFiles, WandbsHistoryIsCurves) {
  Gathered gathered(false);
  const std::string other = Bytes(5, "its settings");
  Read(gathered, kWandb,
       Wandb({other,
              History(0, {{{"_timestamp"}, "1.7e+09"},
                          {{"loss"}, "0.5"},
                          {{"text"}, "\"x\""},
                          {{"val", "acc"}, "0.25"}}),
              History(9, {{{"loss"}, "NaN"}, {{"_step"}, "9"}, {{"table"}, "{\"a\": 1}"}})}));
  EXPECT_EQ(gathered.series().size(), 2U);
  const Columns& loss = gathered.series().at(kLoss).columns;
  EXPECT_THAT(loss.steps, ElementsAre(0, 9));
  EXPECT_THAT(loss.times, ElementsAre(1'700'000'000, 0));
  EXPECT_EQ(loss.values[0], 0.5F);
  EXPECT_TRUE(gathered.series().contains({.run = "wandb/offline-run-1-ab", .tag = "val.acc"}));
}

TEST(MetricFiles, WandbsRecordsGoOnInTheNextBlock) {
  std::vector<std::string> records;
  for (std::uint64_t step = 0; step < 100; ++step)
    records.push_back(
        History(step, {{{"note"}, '"' + std::string(1'000 * (step % 7), 'x') + '"'}, {{"loss"}, "1"}}));
  records.push_back(Bytes(5, std::string(100'000, 'y')));
  records.push_back(History(100, {{{"loss"}, "2"}}));
  const std::string file = Wandb(records);
  Gathered gathered(false);
  for (std::size_t size = 1'000; size < file.size(); size += 10'000)
    Read(gathered, kWandb, file.substr(0, size));
  Read(gathered, kWandb, file);
  EXPECT_EQ(gathered.series().at(kLoss).columns.size(), 101U);
}

TEST(MetricFiles, WandbsDamagedRecordIsLeftOut) {
  const std::string before = Wandb({History(0, {{{"loss"}, "1"}})});
  std::string file =
      Wandb({History(0, {{{"loss"}, "1"}}), History(1, {{{"loss"}, "2"}}), History(2, {{{"loss"}, "3"}})});
  file[before.size() + 10] ^= 1;
  Gathered gathered(false);
  Read(gathered, kWandb, file);
  EXPECT_THAT(gathered.series().at(kLoss).columns.steps, ElementsAre(0, 2));
}

/// Reads the file as far as it goes.
std::uint64_t OffsetAfter(const std::string& file) {
  WandbReader reader;
  const FileWindow::ReadAt read_at = [&file](std::uint64_t offset, std::span<char> buffer) {
    return file.copy(buffer.data(), buffer.size(), offset);
  };
  EXPECT_FALSE(reader.Read(file.size(), std::numeric_limits<std::uint64_t>::max(), read_at,
                           [](const SummaryValue&) {}));
  EXPECT_FALSE(reader.lost());
  return reader.offset();
}

TEST(MetricFiles, WandbsCutRecordIsReadAgainFromItsBegin) {
  const std::string first = Wandb({History(0, {{{"loss"}, "1"}})});
  const std::string both =
      Wandb({History(0, {{{"loss"}, "1"}}), History(1, {{{"note"}, std::string(100'000, 'x')}})});
  EXPECT_EQ(OffsetAfter(both.substr(0, 70'000)), first.size());
  EXPECT_EQ(OffsetAfter(both), both.size());
}

TEST(MetricFiles, WandbsBlockThatIsFullIsNotReadBeyondTheFile) {
  const std::string file = Wandb({Bytes(5, std::string(32'768 - 7 - 7 - 4 - 3, 'y'))});
  ASSERT_EQ(file.size(), 32'765U);
  EXPECT_EQ(OffsetAfter(file), file.size());
}

TEST(MetricFiles, WandbsVeryLongHistoryIsLeftOut) {
  Gathered gathered(false);
  Read(gathered, kWandb,
       Wandb({History(0, {{{"note"}, '"' + std::string(2'000'000, 'x') + '"'}, {{"loss"}, "1"}}),
              History(1, {{{"loss"}, "2"}})}));
  EXPECT_THAT(gathered.series().at(kLoss).columns.steps, ElementsAre(1));
}

TEST(MetricFiles, AStepThatIsNoWholeNumberIsZero) {
  Gathered gathered(false);
  Read(gathered, kWandb,
       Wandb({History(7, {{{"loss"}, "1"}, {{"_step"}, "1e300"}}),
              History(8, {{{"val"}, "1"}, {{"_step"}, "NaN"}})}));
  EXPECT_THAT(gathered.series().at(kLoss).columns.steps, ElementsAre(0));
  EXPECT_THAT(gathered.series().at({.run = kLoss.run, .tag = "val"}).columns.steps, ElementsAre(0));
}

TEST(MetricFiles, WhatIsNotWandbsIsNotRead) {
  Gathered gathered(false);
  EXPECT_FALSE(Read(gathered, kWandb, std::string(1'000, 'x')));
  EXPECT_FALSE(
      Read(gathered, "wandb/a/run-b.wandb", std::string(":W&B\xE1\xBE\0", 7) + std::string(100, '\xFF')));
  EXPECT_TRUE(gathered.series().empty());
}

}  // namespace
}  // namespace trainyard::measurement
