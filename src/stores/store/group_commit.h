#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/async/on_pool.h"
#include "base/check.h"
#include "base/result.h"

namespace trainyard::store {

/// Lets many coroutines share one fsync: what they submit while a group is being committed forms the next
/// group. One thread commits; ONE completion per group is posted to the loop, where every caller of the group
/// resumes. Groups are committed in the order of submission. Loop thread only. Bounded by its callers: each
/// waits for its own request. A cancelled caller still waits, and unwinds at its next co_await.
///
/// The destructor commits everything that was submitted, then joins the thread; callers resume if the loop
/// runs on.
template <class Request, class Value>
class GroupCommit {
 public:
  using Results = std::vector<Result<Value>>;
  /// Runs on the writer thread; returns one result per request, in order.
  using CommitFunction = std::function<Results(std::span<Request> group)>;

  GroupCommit(boost::asio::io_context& loop, std::size_t group_max, CommitFunction commit)
      : state_(std::make_shared<State>(loop, group_max, std::move(commit))) {}
  ~GroupCommit() { state_->FinishAll(); }
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  /// The commit function's result for this request.
  boost::asio::awaitable<Result<Value>> Submit(Request request) {
    Initiate initiate{state_.get(), std::move(request)};
    co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&,
                                                   void(Result<Value>)>(std::move(initiate),
                                                                        boost::asio::use_awaitable);
  }

  /// The writer thread, for reads that must not run at the same time as a commit.
  [[nodiscard]] boost::asio::thread_pool& thread() noexcept { return state_->thread; }

 private:
  using Done = std::move_only_function<void(Result<Value>)>;

  struct Group {
    std::vector<Request> requests;
    std::vector<Done> callers;
    Results results;

    void Resume() {
      TY_CHECK(results.size() == callers.size());
      for (std::size_t i = 0; i < callers.size(); ++i)
        std::exchange(callers[i], nullptr)(std::move(results[i]));
    }
  };

  // Shared with the tasks posted to the loop, which may run after the destructor.
  struct State : std::enable_shared_from_this<State> {
    State(boost::asio::io_context& the_loop, std::size_t the_group_max, CommitFunction the_commit)
        : loop(the_loop), group_max(the_group_max), commit(std::move(the_commit)) {}

    void Add(Request request, Done done) {
      waiting.requests.push_back(std::move(request));
      waiting.callers.push_back(std::move(done));
      StartSoon();
    }

    /// Posted, not started immediately: other work that is ready on the loop may add to the same group.
    void StartSoon() {
      if (busy) return;
      busy = true;
      boost::asio::post(loop, [self = this->shared_from_this()] { self->Start(); });
    }

    void Start() {
      Group group = TakeGroup();
      if (group.requests.empty()) return;
      boost::asio::co_spawn(loop, CommitOne(this->shared_from_this(), std::move(group)),
                            boost::asio::detached);
    }

    static boost::asio::awaitable<void> CommitOne(std::shared_ptr<State> self, Group group) {
      co_await RunOnPool(self->thread, [&self, &group] {
        group.results = self->commit(group.requests);
        group.requests.clear();
      });
      self->busy = false;
      if (!self->waiting.requests.empty()) self->StartSoon();
      group.Resume();
    }

    Group TakeGroup() {
      Group group = std::exchange(waiting, {});
      if (group.requests.size() <= group_max) return group;
      const auto from = static_cast<std::ptrdiff_t>(group_max);
      std::move(group.requests.begin() + from, group.requests.end(), std::back_inserter(waiting.requests));
      std::move(group.callers.begin() + from, group.callers.end(), std::back_inserter(waiting.callers));
      group.requests.erase(group.requests.begin() + from, group.requests.end());
      group.callers.erase(group.callers.begin() + from, group.callers.end());
      return group;
    }

    void FinishAll() {
      busy = true;  // a completion that runs later must not start the next group
      thread.join();
      for (Group group = TakeGroup(); !group.requests.empty(); group = TakeGroup()) {
        group.results = commit(group.requests);
        boost::asio::post(loop, [group = std::move(group)]() mutable { group.Resume(); });
      }
    }

    boost::asio::io_context& loop;
    const std::size_t group_max;
    CommitFunction commit;
    Group waiting;
    bool busy = false;  ///< the writer thread has a group, or is about to get one
    boost::asio::thread_pool thread{1};
  };

  struct Initiate {
    State* state;
    Request request;
    template <class Handler>
    void operator()(Handler handler) {
      state->Add(std::move(request), Done(std::move(handler)));
    }
  };

  std::shared_ptr<State> state_;
};

}  // namespace trainyard::store
