#include "rules/measurement/sqlite_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "rules/measurement/gathered.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

/// MLflow's table of metrics as version 3.17 makes it, in pages of 512 bytes.
std::string Database() {
  const std::ifstream file(EVENT_FILES "/mlflow.db", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

FileWindow::ReadAt From(const std::string& bytes) {
  return [&bytes](std::uint64_t offset, std::span<char> buffer) -> std::size_t {
    if (offset >= bytes.size()) return 0;
    const std::size_t got = std::min<std::size_t>(buffer.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), got, buffer.begin());
    return got;
  };
}

std::size_t RowsOf(const std::string& bytes, const std::string& table) {
  std::size_t rows = 0;
  SqliteTable reader(table);
  reader.Read(bytes.size(), kAll, From(bytes), [&rows](const SqliteTable::Row&) { ++rows; });
  return rows;
}

TEST(SqliteTable, HasMlflowsMetrics) {
  const std::string bytes = Database();
  Gathered gathered(false);
  const FileWindow::ReadAt read_at = From(bytes);
  EXPECT_FALSE(gathered.Read("workdir/mlflow.db", {.id = 1, .size = bytes.size()}, kAll, read_at));
  gathered.Settle();
  EXPECT_EQ(gathered.series().size(), 2U);
  const std::string run = "workdir/a32b053855e7495a9cbfb2725ac5073b";
  const Columns& loss = gathered.series().at({.run = run, .tag = "loss"}).columns;
  ASSERT_EQ(loss.size(), 120U);
  EXPECT_EQ(loss.steps[119], 119);
  EXPECT_EQ(loss.times[1], 1'700'000'001);
  EXPECT_EQ(loss.values[3], 0.25F);
  const Columns& other =
      gathered.series().at({.run = "workdir/" + std::string(32, 'b'), .tag = "val/acc"}).columns;
  EXPECT_THAT(other.steps, ElementsAre(-1, 0, 1, 2));
  EXPECT_TRUE(std::isnan(other.values[0]));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::vector(other.values.begin() + 1, other.values.end()),
              ElementsAre(2, kInfinity, -kInfinity));
}

TEST(SqliteTable, IsReadInParts) {
  const std::string bytes = Database();
  const FileWindow::ReadAt read_at = From(bytes);
  std::size_t rows = 0;
  SqliteTable reader("metrics");
  int parts = 1;
  while (reader.Read(bytes.size(), 4'096, read_at, [&rows](const SqliteTable::Row&) { ++rows; })) ++parts;
  EXPECT_GT(parts, 1);
  EXPECT_EQ(rows, 124U);
}

TEST(SqliteTable, AChangedFileIsReadAgain) {
  std::string bytes = Database();
  Gathered gathered(false);
  gathered.Read("mlflow.db", {.id = 1, .size = bytes.size()}, kAll, From(bytes));
  bytes[27] = static_cast<char>(bytes[27] + 1);  // the counter of changes
  gathered.Read("mlflow.db", {.id = 2, .size = bytes.size()}, kAll, From(bytes));
  gathered.Settle();
  EXPECT_EQ(gathered.points(), 124U);
}

TEST(SqliteTable, OfAnotherNameOrNoFileAtAll) {
  EXPECT_EQ(RowsOf(Database(), "metric"), 0U);
  EXPECT_EQ(RowsOf(std::string(10'000, 'x'), "metrics"), 0U);
  EXPECT_EQ(RowsOf("", "metrics"), 0U);
  EXPECT_EQ(RowsOf(Database().substr(0, 3'000), "metrics"), 0U);
}

/// Each byte of the file in turn is another: it may have other rows, but it ends, and reads nothing beyond.
TEST(SqliteTable, DamageEnds) {
  const std::string bytes = Database();
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(~damaged[at]);
    EXPECT_LE(RowsOf(damaged, "metrics"), 10'000U) << at;
  }
}

void Put(std::string& bytes, std::size_t at, const std::string& content) {
  bytes.replace(at, content.size(), content);
}

/// A first page with one child, the page of that number.
std::string FirstPage(std::size_t page_bytes, char child) {
  std::string page(page_bytes, '\0');
  Put(page, 0, "SQLite format 3");
  Put(page, 16, page_bytes == 65'536 ? std::string("\0\1", 2) : std::string("\2\0", 2));
  page[59] = 1;  // UTF-8
  page[100] = 5;
  page[111] = child;
  return page;
}

TEST(SqliteTable, ACircleOfPagesStopsAfterItsShare) {
  const std::string page = FirstPage(512, 1);
  SqliteTable reader("metrics");
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 41;  // a sparse file: four thousand million pages
  EXPECT_TRUE(reader.Read(kHuge, 1 << 20, From(page), [](const SqliteTable::Row&) {}));
}

TEST(SqliteTable, PagesThatNameTooManyOthersAreNoTree) {
  std::string bytes = FirstPage(65'536, 2) + std::string(65'536, '\0');
  constexpr std::size_t kSecond = 65'536;
  constexpr std::size_t kCells = 32'000;
  bytes[kSecond] = 5;
  Put(bytes, kSecond + 3, {static_cast<char>(kCells >> 8U), static_cast<char>(kCells & 0xFFU)});
  bytes[kSecond + 11] = 2;
  for (std::size_t i = 0; i < kCells; ++i) Put(bytes, kSecond + 12 + 2 * i, "\xFF\x10");
  bytes[kSecond + 0xFF13] = 2;  // each cell's child: the page itself
  SqliteTable reader("metrics");
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 41;
  EXPECT_FALSE(reader.Read(kHuge, kAll, From(bytes), [](const SqliteTable::Row&) {}));
  EXPECT_TRUE(reader.lost());
}

}  // namespace
}  // namespace trainyard::measurement
