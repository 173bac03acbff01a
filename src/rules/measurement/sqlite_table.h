#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/measurement/record_reader.h"

namespace trainyard::measurement {

/// Reads the rows of one table of a SQLite file that a program wrote. No SQL of the file is run, and nothing
/// of it is believed: pages, cells and values that do not fit are left out. Rows whose cells need more than a
/// page are left out as well. Pure: the bytes come from the caller. One thread at a time. Source: SQLite's
/// page "Database File Format".
class SqliteTable {
 public:
  using Value =
      std::variant<std::monostate, std::int64_t, double, std::string_view>;  ///< null, ..., text or blob
  /// By column of the table's definition; a row that is shorter has the rest from its definition.
  using Row = std::vector<Value>;
  using Take = std::function<void(const Row& row)>;

  explicit SqliteTable(std::string name) : name_(std::move(name)) {}

  /// Continues, and stops after about `bytes_max`. True: there is more.
  bool Read(std::uint64_t size, std::uint64_t bytes_max, const FileWindow::ReadAt& read_at, const Take& take);

  /// The position of a column in a row; nullopt: there is none, or the table was not found (yet).
  [[nodiscard]] std::optional<std::size_t> ColumnOf(std::string_view name) const;
  /// How much of the file tells whether it has changed: its head has a counter.
  [[nodiscard]] std::uint64_t offset() const noexcept { return page_bytes_ == 0 ? 0 : kHeadBytes; }
  static constexpr std::uint64_t kHeadBytes = 100;
  /// Whether it is no SQLite file, has no such table, or has pages that are no tree.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  bool Begin(FileWindow& window, std::uint64_t size);
  void VisitPage(FileWindow& window, std::uint32_t number, const Take& take);
  void VisitCell(std::string_view page, std::size_t at, bool is_leaf, const Take& take);
  void TakeDefinition(const Row& row);

  std::string name_;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t usable_bytes_ = 0;
  std::uint64_t pages_left_ = 0;  ///< that may still be visited: each page of the file once
  std::vector<std::uint32_t> waiting_;
  std::uint32_t root_ = 0;  ///< the table's first page
  bool in_table_ = false;   ///< else in the list of tables
  std::vector<std::string> columns_;
  bool lost_ = false;
};

}  // namespace trainyard::measurement
