#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <utility>

#include "base/async/on_pool.h"
#include "base/result.h"

namespace trainyard::storage {

/// How many bytes a pool handles in one turn: some tens of milliseconds.
inline constexpr std::uint64_t kSliceBytes = std::uint64_t{32} << 20;

/// Runs `work(offset, length)`, which returns a Status, over `total` bytes: slice by slice; work that others
/// submit to the pool in the meantime runs in between. Ends at the first error, or when the caller is
/// cancelled.
///
/// @param work  copied for each slice: it shares what it needs.
template <class Work>
asio::awaitable<Status> InSlices(asio::thread_pool& pool, std::uint64_t total, Work work) {
  for (std::uint64_t offset = 0; offset < total; offset += kSliceBytes) {
    const std::uint64_t length = std::min(kSliceBytes, total - offset);
    auto slice = [work, offset, length]() mutable -> Status { return work(offset, length); };
    TY_CO_RETURN_IF_ERROR(co_await OnPool(pool, std::move(slice)));
  }
  co_return Status();
}

}  // namespace trainyard::storage
