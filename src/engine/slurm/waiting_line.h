#pragma once

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstdint>

#include "base/check.h"
#include "engine/engine.h"

namespace trainyard::engine {

/// Reservations without room, in the order of their jobs. What is asked of it costs the logarithm of their
/// number: each job's state names its place, also where 100,000 wait. A value; one thread.
class WaitingLine {
 public:
  /// One that is there stays.
  void Add(const ReservationKey& key) { keys_.insert(key); }
  /// Nothing if it is not there.
  void Remove(const ReservationKey& key) { keys_.erase(key); }
  /// Counts from 1. It is there.
  [[nodiscard]] std::int64_t PositionOf(const ReservationKey& key) const {
    const auto found = keys_.find(key);
    TY_CHECK(found != keys_.end());
    return static_cast<std::int64_t>(keys_.rank(found)) + 1;
  }

 private:
  using ByKey = boost::multi_index::ranked_unique<boost::multi_index::identity<ReservationKey>>;
  boost::multi_index_container<ReservationKey, boost::multi_index::indexed_by<ByKey>> keys_;
};

}  // namespace trainyard::engine
