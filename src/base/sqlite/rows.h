#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"

/// Reading the rows of an execution: `read(const Cursor&)` returns what is read, or a Result of it. Errors:
/// those of Cursor::Next and of `read`, which end the walk.
namespace trainyard::sqlite {

/// Calls `visit` for each row; it returns a Status or nothing.
template <class Visit>
Status EachRow(Cursor row, Visit visit) {
  for (;;) {
    TY_TRY(const bool found, row.Next());
    if (!found) return {};
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, const Cursor&>>) {
      visit(std::as_const(row));
    } else {
      TY_RETURN_IF_ERROR(visit(std::as_const(row)));
    }
  }
}

template <class T>
struct ValueOf {
  using type = T;
};
template <class T>
struct ValueOf<Result<T>> {
  using type = T;
};
template <class Read>
using ReadValue = typename ValueOf<std::invoke_result_t<Read&, const Cursor&>>::type;

template <class Read>
Result<ReadValue<Read>> ReadRow(const Cursor& row, Read& read) {
  return read(row);
}

template <class Read>
Result<std::vector<ReadValue<Read>>> AllRows(Cursor row, Read read) {
  std::vector<ReadValue<Read>> all;
  TY_RETURN_IF_ERROR(EachRow(std::move(row), [&](const Cursor& each) -> Status {
    TY_TRY(auto value, ReadRow(each, read));
    all.push_back(std::move(value));
    return {};
  }));
  return all;
}

/// Absent: there is no row.
template <class Read>
Result<std::optional<ReadValue<Read>>> FirstRow(Cursor row, Read read) {
  TY_TRY(const bool found, row.Next());
  if (!found) return std::nullopt;
  return ReadRow(row, read);
}

/// The first column of the first row; 0 if there is no row.
inline Result<std::int64_t> FirstInt(Cursor row) {
  TY_TRY(const bool found, row.Next());
  return found ? row.Int(0) : 0;
}

/// FirstInt of a query without values.
inline Result<std::int64_t> ReadInt(Database& database, const std::string& sql) {
  TY_TRY(Statement statement, database.Prepare(sql));
  return FirstInt(statement.Query());
}

}  // namespace trainyard::sqlite
