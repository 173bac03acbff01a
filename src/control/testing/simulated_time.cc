#include "control/testing/simulated_time.h"

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <cerrno>
#include <ctime>
#include <deque>
#include <exception>
#include <iterator>
#include <list>
#include <utility>

#include "base/async/on_pool.h"
#include "base/check.h"

namespace trainyard {
namespace {

/// Nanoseconds since the epoch; 0: there is no simulation.
std::int64_t now_ns = 0;
constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;

/// The work that waits for each pool, in the order in which it was given, as one thread does it.
/// By first use, and not by address, so that equal seeds give equal orders.
struct Pool {
  const asio::thread_pool* pool;
  std::deque<std::move_only_function<void()>> works{};
};
std::list<Pool> waiting;
bool immediate_work = false;

std::exception_ptr Run(std::move_only_function<void()>& work) {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

struct Initiate {
  const asio::thread_pool* pool;
  std::move_only_function<void()> work;

  template <class Handler>
  void operator()(Handler handler) {
    auto guard = asio::make_work_guard(asio::get_associated_executor(handler));
    auto run = [work = std::move(work), handler = std::move(handler), guard = std::move(guard)]() mutable {
      std::exception_ptr exception = Run(work);
      auto executor = guard.get_executor();
      asio::post(executor, [handler = std::move(handler), exception = std::move(exception)]() mutable {
        std::move(handler)(std::move(exception));
      });
    };
    if (immediate_work) return run();
    auto place = std::ranges::find(waiting, pool, &Pool::pool);
    if (place == waiting.end()) place = waiting.insert(place, Pool{pool});
    place->works.push_back(std::move(run));
  }
};

/// The next work of the pool at this place.
void RunOne(std::size_t place) {
  const auto pool = std::next(waiting.begin(), static_cast<std::ptrdiff_t>(place));
  std::move_only_function<void()> run = std::move(pool->works.front());
  pool->works.pop_front();
  if (pool->works.empty()) waiting.erase(pool);
  run();
}

}  // namespace

asio::awaitable<void> RunOnPool(asio::thread_pool& pool, std::move_only_function<void()> work) {
  Initiate initiate{&pool, std::move(work)};
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(std::exception_ptr)>(
      std::move(initiate), asio::use_awaitable);
}

template asio::awaitable<Status> ValueOnPool(asio::thread_pool&, std::move_only_function<Status()>);
template asio::awaitable<bool> ValueOnPool(asio::thread_pool&, std::move_only_function<bool()>);

namespace control {

SimulatedTime::SimulatedTime(boost::asio::io_context& loop, std::uint64_t seed) : loop_(loop), random_(seed) {
  TY_CHECK(now_ns == 0);
  now_ns = kStartNs;
}

SimulatedTime::~SimulatedTime() {
  waiting.clear();
  immediate_work = false;
  now_ns = 0;
}

SysTime SimulatedTime::Now() const { return SysTime(std::chrono::nanoseconds(now_ns)); }

bool SimulatedTime::Step(std::chrono::nanoseconds wait_max) {
  constexpr std::int64_t kTickNs = 200'000;
  loop_.restart();
  // Work of a pool may take any number of turns of the loop.
  const bool works = !waiting.empty() && random_() % 3 == 0;
  if (!works && loop_.poll_one() != 0) return true;
  if (!waiting.empty()) {
    now_ns += static_cast<std::int64_t>(random_() % 1'000'000);
    RunOne(random_() % waiting.size());
    return true;
  }
  for (std::int64_t passed = 0, step = kTickNs; passed < wait_max.count(); passed += step, step += step / 4) {
    now_ns += step;
    if (loop_.poll_one() != 0) return true;
    loop_.restart();
  }
  return false;
}

void SimulatedTime::SetImmediate(bool immediate) {
  immediate_work = immediate;
  while (!waiting.empty()) RunOne(0);
}

}  // namespace control
}  // namespace trainyard

// These functions replace those of the C library.
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const bool simulated = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
  if (!simulated || trainyard::now_ns == 0)
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  time->tv_sec = trainyard::now_ns / 1'000'000'000;
  time->tv_nsec = trainyard::now_ns % 1'000'000'000;
  return 0;
}

/// The kernel's timers do not know the simulated time: without them the loop asks the clock.
int timerfd_create(clockid_t, int) noexcept {
  errno = ENOSYS;
  return -1;
}
}
