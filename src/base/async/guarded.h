#pragma once

#include <mutex>
#include <utility>

namespace trainyard {

/// A value protected by a mutex: With() is the only way to access it, so it cannot be read without the lock.
/// Any thread. The function must not block, co_await or call With() of the same object.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class F>
  decltype(auto) With(F&& function) {
    std::scoped_lock lock(mutex_);
    return std::forward<F>(function)(value_);
  }
  template <class F>
  decltype(auto) With(F&& function) const {
    std::scoped_lock lock(mutex_);
    return std::forward<F>(function)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace trainyard
