#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/async/loop_watch.h"

namespace trainyard {

namespace asio = boost::asio;

/// The task that runs on one watched executor, for instance a connection. Loop thread only.
struct LoopTask {
  LoopWatch& watch;
  std::string_view name;  ///< what it is doing now; outlives the task
};

/// One turn of the loop for a task, from the constructor to the destructor. Turns nest: an inner one that
/// stalls is not counted again for the outer one. Loop thread only.
class LoopTurn {
 public:
  explicit LoopTurn(LoopTask& task);
  ~LoopTurn();
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  [[nodiscard]] LoopTask& task() noexcept { return task_; }

 private:
  LoopTask& task_;
  LoopTurn* outer_;
  std::chrono::steady_clock::time_point begin_;
  LoopWatch::Duration inner_{};  ///< time of inner turns
};

/// Sets the name of what the current turn's task does from here on; `name` outlives the task. No effect
/// without a LoopWatch. Any thread.
void NameLoopTask(std::string_view name) noexcept;

/// An executor of the loop whose handlers are turns of a task. A standard executor: forwards everything to
/// `Inner`.
template <class Inner>
class WatchedExecutor {
 public:
  WatchedExecutor(Inner inner, std::shared_ptr<LoopTask> task) noexcept
      : inner_(std::move(inner)), task_(std::move(task)) {}

  [[nodiscard]] const Inner& inner() const noexcept { return inner_; }

  template <class Property>
    requires asio::can_query<const Inner&, Property>::value
  auto query(const Property& property) const noexcept(asio::is_nothrow_query<const Inner&, Property>::value)
      -> typename asio::query_result<const Inner&, Property>::type {
    return asio::query(inner_, property);
  }

  template <class Property>
    requires(asio::can_require<const Inner&, Property>::value &&
             !std::is_convertible_v<Property, asio::execution::blocking_t::always_t>)
  auto require(const Property& property) const {
    using Required = std::decay_t<typename asio::require_result<const Inner&, Property>::type>;
    return WatchedExecutor<Required>(asio::require(inner_, property), task_);
  }

  template <class Property>
    requires(asio::can_prefer<const Inner&, Property>::value &&
             !std::is_convertible_v<Property, asio::execution::blocking_t::always_t>)
  auto prefer(const Property& property) const {
    using Preferred = std::decay_t<typename asio::prefer_result<const Inner&, Property>::type>;
    return WatchedExecutor<Preferred>(asio::prefer(inner_, property), task_);
  }

  template <class Function>
  void execute(Function&& function) const {
    inner_.execute(Turn<std::decay_t<Function>>{task_, std::forward<Function>(function)});
  }

  friend bool operator==(const WatchedExecutor& a, const WatchedExecutor& b) noexcept {
    return a.task_ == b.task_ && a.inner_ == b.inner_;
  }
  friend bool operator!=(const WatchedExecutor& a, const WatchedExecutor& b) noexcept { return !(a == b); }

 private:
  template <class Function>
  struct Turn {
    std::shared_ptr<LoopTask> task;
    Function function;
    void operator()() {
      const LoopTurn turn(*task);
      std::move(function)();
    }
  };

  Inner inner_;
  std::shared_ptr<LoopTask> task_;  // shared: handlers may be destroyed with the io_context, after everything
};

/// An executor of `loop` whose turns `watch` measures under `name` (which outlives them) until NameLoopTask
/// changes it. If `watch` is null: the loop's own executor.
[[nodiscard]] asio::any_io_executor WatchLoop(asio::io_context& loop, LoopWatch* watch,
                                              std::string_view name);

/// The loop of an executor that came from it or from WatchLoop; null for any other.
[[nodiscard]] asio::io_context* LoopOf(const asio::any_io_executor& executor) noexcept;

}  // namespace trainyard
