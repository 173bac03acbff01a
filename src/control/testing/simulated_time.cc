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
#include <limits>
#include <list>
#include <map>
#include <utility>

#include "base/async/on_pool.h"
#include "base/check.h"

namespace trainyard {
namespace {

/// Nanoseconds since the epoch; 0: there is no simulation.
std::int64_t now_ns = 0;
std::int64_t clock_error_ns = 0;
constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;

/// The work that waits for each pool, in the order in which it was given, as one thread does it.
/// By first use, and not by address, so that equal seeds give equal orders.
struct Work {
  std::move_only_function<void()> run;
  std::int64_t due_ns = 0;  ///< not before
};
struct Pool {
  const asio::thread_pool* pool;
  std::deque<Work> works{};
};
std::list<Pool> waiting;
bool immediate_work = false;
std::mt19937_64* slowness = nullptr;  ///< how long works take longer; null: they do not
constexpr std::uint64_t kSlowerMaxNs = 2'000'000'000;

/// Results of work that was done, and whose callers get them later: by the time when they get them.
std::multimap<std::int64_t, std::move_only_function<void()>> answers;
std::int64_t answer_delay_ns = 0;  ///< of the work that runs now

/// Passes on the results that are due. Returns whether there were any.
bool GiveAnswers(std::int64_t until_ns) {
  bool any = false;
  for (; !answers.empty() && answers.begin()->first <= until_ns; any = true)
    answers.extract(answers.begin()).mapped()();
  return any;
}

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
      answer_delay_ns = 0;
      auto answer = [guard = std::move(guard), handler = std::move(handler),
                     exception = Run(work)]() mutable {
        auto executor = guard.get_executor();
        asio::post(executor, [handler = std::move(handler), exception = std::move(exception)]() mutable {
          std::move(handler)(std::move(exception));
        });
      };
      if (answer_delay_ns == 0 || immediate_work) return answer();
      answers.emplace(now_ns + answer_delay_ns, std::move(answer));
    };
    if (immediate_work) return run();
    auto place = std::ranges::find(waiting, pool, &Pool::pool);
    if (place == waiting.end()) place = waiting.insert(place, Pool{pool});
    const std::uint64_t slower = slowness != nullptr ? (*slowness)() % kSlowerMaxNs : 0;
    place->works.push_back({.run = std::move(run), .due_ns = now_ns + static_cast<std::int64_t>(slower)});
  }
};

using PlaceOfPool = std::list<Pool>::iterator;

/// The next work of the pool.
void RunOne(PlaceOfPool pool) {
  std::move_only_function<void()> run = std::move(pool->works.front().run);
  pool->works.pop_front();
  if (pool->works.empty()) waiting.erase(pool);
  run();
}

bool IsDue(const Pool& pool) { return pool.works.front().due_ns <= now_ns; }

/// One of the pools whose next work may end now; the end: there is none.
PlaceOfPool PickDue(std::mt19937_64& random) {
  const auto due = static_cast<std::uint64_t>(std::ranges::count_if(waiting, IsDue));
  if (due == 0) return waiting.end();
  auto skip = random() % due;
  return std::ranges::find_if(waiting, [&skip](const Pool& pool) { return IsDue(pool) && skip-- == 0; });
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
  SetClockError(std::chrono::nanoseconds(0));
}

SimulatedTime::~SimulatedTime() {
  waiting.clear();
  answers.clear();
  immediate_work = false;
  slowness = nullptr;
  clock_error_ns = 0;
  now_ns = 0;
}

SysTime SimulatedTime::TrueNow() const { return SysTime(std::chrono::nanoseconds(now_ns)); }
SysTime SimulatedTime::Now() const { return TrueNow() + std::chrono::nanoseconds(clock_error_ns); }

void SimulatedTime::SetClockError(std::chrono::nanoseconds error) {
  if (!showings_.empty() && showings_.back().error == error) return;
  showings_.push_back({.since = TrueNow(), .error = error});
  clock_error_ns = error.count();
}

SysTime SimulatedTime::TrueTimeOf(SysTime shown, SysTime earliest) const {
  for (std::size_t i = 0; i < showings_.size(); ++i) {
    const SysTime end = i + 1 < showings_.size() ? showings_[i + 1].since : TrueNow();
    const SysTime time = shown - showings_[i].error;
    if (time >= std::max(showings_[i].since, earliest) && time <= end) return time;
  }
  return earliest;
}

bool SimulatedTime::Step(std::chrono::nanoseconds wait_max) {
  constexpr std::int64_t kTickNs = 200'000;
  loop_.restart();
  GiveAnswers(now_ns);
  // Work of a pool may take any number of turns of the loop.
  const bool works = !waiting.empty() && random_() % 3 == 0;
  if (!works && loop_.poll_one() != 0) return true;
  for (std::int64_t passed = 0, step = kTickNs; passed < wait_max.count(); passed += step, step += step / 4) {
    if (const PlaceOfPool pool = PickDue(random_); pool != waiting.end()) {
      now_ns += static_cast<std::int64_t>(random_() % 1'000'000);
      RunOne(pool);
      return true;
    }
    now_ns += step;
    if (GiveAnswers(now_ns) || loop_.poll_one() != 0) return true;
    loop_.restart();
  }
  return false;
}

void SimulatedTime::AnswerLater(std::chrono::nanoseconds delay) { answer_delay_ns = delay.count(); }

void SimulatedTime::SetSlow(bool slow) { slowness = slow ? &random_ : nullptr; }

void SimulatedTime::Pass(std::chrono::nanoseconds duration) { now_ns += duration.count(); }

void SimulatedTime::SetImmediate(bool immediate) {
  immediate_work = immediate;
  while (!waiting.empty()) RunOne(waiting.begin());
  GiveAnswers(std::numeric_limits<std::int64_t>::max());
}

}  // namespace control
}  // namespace trainyard

// These functions replace those of the C library.
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const bool simulated = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
  if (!simulated || trainyard::now_ns == 0)
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  const std::int64_t shown = trainyard::now_ns + (clock == CLOCK_REALTIME ? trainyard::clock_error_ns : 0);
  time->tv_sec = shown / 1'000'000'000;
  time->tv_nsec = shown % 1'000'000'000;
  return 0;
}

/// The kernel's timers do not know the simulated time: without them the loop asks the clock.
int timerfd_create(clockid_t, int) noexcept {
  errno = ENOSYS;
  return -1;
}
}
