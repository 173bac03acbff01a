#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "control/job_service.h"
#include "control/run/pause.h"
#include "rules/notices/destination.h"
#include "rules/notices/notice.h"
#include "stores/notices/outbox.h"
#include "stores/store/journal.h"

namespace trainyard::control {

/// Tells the operator's destinations of jobs that ended or that wait long: reads what ended from the history
/// of the jobs, so that a server that was killed in between continues where it was, and delivers each notice
/// at least once or gives it up. Jobs never wait for it. Loop thread only.
class Notifier {
 public:
  /// Delivers one letter. Blocks; any thread, several at a time. Its error is logged.
  using Deliver = std::function<Status(const notices::Destination&, const notices::Letter&)>;

  /// Jobs that ended longer ago, while no server ran, are passed over.
  static constexpr std::chrono::hours kTellWithin{24};
  /// Between two looks for jobs that wait long; less if the limit is shorter.
  static constexpr std::chrono::seconds kLookEvery{30};

  /// Since this server started.
  struct Counts {
    std::int64_t delivered = 0;
    std::int64_t failed = 0;    ///< tries, each of which may be followed by another
    std::int64_t given_up = 0;  ///< notices that are not sent, also for lack of room
  };

  struct Dependencies {
    boost::asio::any_io_executor loop;
    const Clock& clock;
    JobService& jobs;
    store::Journal& journal;
    notices::Outbox& outbox;
    const std::vector<notices::Destination>& destinations;
    std::optional<std::chrono::seconds> long_wait;  ///< nothing: waiting jobs are not reported
    std::string server_url;
    Deliver deliver;
  };
  /// All of the parts outlive it.
  explicit Notifier(Dependencies parts);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  [[nodiscard]] Counts counts() const noexcept { return counts_; }

 private:
  struct Route {
    Route(const notices::Destination& to, const boost::asio::any_io_executor& loop)
        : destination(to), posted(loop) {}
    const notices::Destination& destination;
    Event posted;
  };

  boost::asio::awaitable<void> ReadHistory();
  boost::asio::awaitable<Result<std::int64_t>> WhereToBegin();
  boost::asio::awaitable<Result<bool>> ReadSome(std::int64_t& last_read);
  boost::asio::awaitable<void> LookForWaits();
  boost::asio::awaitable<Status> TellWaits(std::vector<v1::JobRecord> waiting);
  boost::asio::awaitable<Status> Post(std::vector<notices::Posting> postings,
                                      std::optional<std::int64_t> last_read);
  boost::asio::awaitable<void> DeliverTo(Route& route);
  boost::asio::awaitable<Result<std::optional<SysTime>>> DeliverNext(const notices::Destination& destination);
  [[nodiscard]] notices::Posting MakePosting(const v1::JobRecord& job, notices::Event event,
                                             const std::string& why_waiting = {}) const;

  Dependencies parts_;
  Counts counts_;
  Event changed_;
  std::shared_ptr<const store::Journal::Observer> observing_;
  std::set<std::int64_t> told_;  ///< jobs whose long wait was posted and that still wait
  std::list<Route> routes_;
  Trouble reading_;
  Trouble looking_;
  boost::asio::thread_pool files_{1};    ///< uses the outbox
  boost::asio::thread_pool senders_{4};  ///< slow destinations keep some of them busy, and no job
  TaskGroup tasks_;
};

}  // namespace trainyard::control
