#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace trainyard {

/// A value, or the error why there is none.
template <class T>
using Result = std::expected<T, Error>;
/// Success is `return {};`.
using Status = Result<void>;

}  // namespace trainyard

#define TY_CONCAT_INNER(a, b) a##b
#define TY_CONCAT(a, b) TY_CONCAT_INNER(a, b)

/// `TY_TRY(JobId id, JobId::Parse(text));` declares id, or returns the error to the caller.
#define TY_TRY(declaration, ...) \
  TY_TRY_IMPL(TY_CONCAT(ty_result_, __COUNTER__), return, declaration, __VA_ARGS__)
/// TY_TRY inside a coroutine; the expression usually begins with co_await.
#define TY_CO_TRY(declaration, ...) \
  TY_TRY_IMPL(TY_CONCAT(ty_result_, __COUNTER__), co_return, declaration, __VA_ARGS__)
#define TY_TRY_IMPL(name, leave, declaration, ...)           \
  auto name = __VA_ARGS__;                                   \
  if (!name) leave std::unexpected(std::move(name).error()); \
  declaration = *std::move(name)

/// `TY_RETURN_IF_ERROR(Validate(job));` returns the error of a Status to the caller.
#define TY_RETURN_IF_ERROR(...) \
  TY_RETURN_IF_ERROR_IMPL(TY_CONCAT(ty_status_, __COUNTER__), return, __VA_ARGS__)
#define TY_CO_RETURN_IF_ERROR(...) \
  TY_RETURN_IF_ERROR_IMPL(TY_CONCAT(ty_status_, __COUNTER__), co_return, __VA_ARGS__)
#define TY_RETURN_IF_ERROR_IMPL(name, leave, ...) \
  if (auto name = __VA_ARGS__; !name) leave std::unexpected(std::move(name).error())
