#include "base/async/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <cstdio>
#include <exception>
#include <list>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/async/watched_executor.h"
#include "base/check.h"

namespace trainyard {

struct TaskGroup::State {
  explicit State(asio::any_io_executor used) : executor(std::move(used)), empty(executor) { empty.Set(); }

  asio::any_io_executor executor;
  std::list<std::shared_ptr<asio::cancellation_signal>> tasks;  // shared: Cancel() walks a copy
  Event empty;
  bool closing = false;
};

namespace {

void CheckTaskEnd(const std::exception_ptr& exception) {
  if (!exception) return;
  try {
    std::rethrow_exception(exception);
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) return;
    std::fprintf(stderr, "a task ended with the exception: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a task ended with the exception: %s\n", error.what());
  }
  CheckFailed("no exception leaves a task", __FILE__, __LINE__);
}

}  // namespace

TaskGroup::TaskGroup(asio::any_io_executor executor) : state_(std::make_shared<State>(std::move(executor))) {}

TaskGroup::~TaskGroup() {
  if (state_->tasks.empty()) return;
  asio::io_context* const used = LoopOf(state_->executor);
  TY_CHECK(used != nullptr);
  asio::io_context& loop = *used;
  // Inside the loop: await Join() before destroying the owner.
  TY_CHECK(!loop.get_executor().running_in_this_thread());
  loop.restart();
  state_->closing = true;
  Cancel();
  while (!state_->tasks.empty()) TY_CHECK(loop.run_one() > 0);
}

void TaskGroup::Spawn(asio::awaitable<void> task) { Spawn(state_->executor, std::move(task)); }

void TaskGroup::Spawn(const asio::any_io_executor& executor, asio::awaitable<void> task) {
  if (state_->closing) return;
  auto signal = std::make_shared<asio::cancellation_signal>();
  const auto position = state_->tasks.insert(state_->tasks.end(), signal);
  state_->empty.Reset();
  auto on_end = [state = state_, position](const std::exception_ptr& exception) {
    state->tasks.erase(position);
    if (state->tasks.empty()) state->empty.Set();
    CheckTaskEnd(exception);
  };
  asio::co_spawn(executor, std::move(task), asio::bind_cancellation_slot(signal->slot(), std::move(on_end)));
}

void TaskGroup::Cancel() {
  // On the loop, always: outside of it co_spawn's own handler would forward the signal later, to a task that
  // may be gone.
  asio::dispatch(state_->executor, [state = state_] {
    const std::vector<std::shared_ptr<asio::cancellation_signal>> running(state->tasks.begin(),
                                                                          state->tasks.end());
    for (const auto& signal : running) signal->emit(asio::cancellation_type::terminal);
  });
}

asio::awaitable<void> TaskGroup::Join() {
  const std::shared_ptr<State> state = state_;
  while (!state->tasks.empty()) co_await state->empty.Wait();
}

std::size_t TaskGroup::size() const noexcept { return state_->tasks.size(); }

}  // namespace trainyard
