#pragma once

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstdint>

#include "base/check.h"
#include "engine/engine.h"

namespace trainyard::engine {

/// Reservations without a grant, in the order of their jobs. Each operation takes logarithmic time, since
/// each job's state names its position, even if 100,000 jobs wait. A value; one thread.
class WaitingLine {
 public:
  /// Does nothing if it is already there.
  void Add(const ReservationKey& key) { keys_.insert(key); }
  /// Does nothing if it is not there.
  void Remove(const ReservationKey& key) { keys_.erase(key); }
  /// The position, from 1. The reservation must be there.
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
