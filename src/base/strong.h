#pragma once

#include <compare>
#include <utility>

namespace trainyard {

/// A distinct type for a value, without implicit conversion in either direction.
template <class Tag, class Rep>
class Strong {
 public:
  constexpr explicit Strong(Rep value) : value_(std::move(value)) {}
  [[nodiscard]] constexpr const Rep& value() const noexcept { return value_; }
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;

 private:
  Rep value_;
};

}  // namespace trainyard
