#include "control/run/posted_events.h"

#include <utility>

namespace trainyard::control {

boost::asio::awaitable<Status> PostedEvents::Post(v1::Event event, std::optional<std::int64_t> revision) {
  auto answer = std::make_shared<Answer>(loop_);
  posted_.push_back({std::move(event), revision, answer});
  wake_.Set();
  co_await answer->done.Wait();
  co_return answer->status;
}

boost::asio::awaitable<void> PostedEvents::RecordNext(JobHistory& history) {
  Posted posted = std::move(posted_.front());
  posted_.pop_front();
  std::shared_ptr<Answer> answer = posted.answer;
  answer->status = co_await Record(history, std::move(posted));
  answer->done.Set();
}

boost::asio::awaitable<Status> PostedEvents::Record(JobHistory& history, Posted posted) {
  const v1::JobRecord& job = history.job();
  if (posted.revision && *posted.revision != job.revision())
    co_return std::unexpected(Error{Code::kAborted, "the job has changed", ""});
  const bool is_late = job.job().has_end_time() || job.job().state() == ml::v1::Job::CANCELLING;
  if (posted.event.has_cancel_requested() && is_late) co_return Status{};
  co_return co_await history.Record(std::move(posted.event));
}

}  // namespace trainyard::control
