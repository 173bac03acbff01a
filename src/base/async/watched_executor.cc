#include "base/async/watched_executor.h"

namespace trainyard {

namespace {

thread_local LoopTurn* g_turn = nullptr;

using LoopExecutor = asio::io_context::executor_type;

}  // namespace

LoopTurn::LoopTurn(LoopTask& task)
    : task_(task), outer_(std::exchange(g_turn, this)), begin_(std::chrono::steady_clock::now()) {}

LoopTurn::~LoopTurn() {
  g_turn = outer_;
  const auto now = std::chrono::steady_clock::now();
  const LoopWatch::Duration all = now - begin_;
  if (outer_ != nullptr) outer_->inner_ += all;
  task_.watch.Took(task_.name, all - inner_, now);
}

void NameLoopTask(std::string_view name) noexcept {
  if (g_turn != nullptr) g_turn->task().name = name;
}

asio::any_io_executor WatchLoop(asio::io_context& loop, LoopWatch* watch, std::string_view name) {
  if (watch == nullptr) return loop.get_executor();
  return WatchedExecutor<LoopExecutor>(loop.get_executor(),
                                       std::make_shared<LoopTask>(LoopTask{.watch = *watch, .name = name}));
}

asio::io_context* LoopOf(const asio::any_io_executor& executor) noexcept {
  if (const auto* plain = executor.target<LoopExecutor>()) return &plain->context();
  if (const auto* watched = executor.target<WatchedExecutor<LoopExecutor>>())
    return &watched->inner().context();
  return nullptr;
}

}  // namespace trainyard
