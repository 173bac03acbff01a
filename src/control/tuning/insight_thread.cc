#include "control/tuning/insight_thread.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <utility>

#include "base/async/on_pool.h"

namespace trainyard::control {

using boost::asio::awaitable;

/// While it exists, the subject's insight is being computed.
struct InsightThread::Computing {
  Computing(InsightThread& on, const Subject& subject, const boost::asio::any_io_executor& loop)
      : thread(on), entry(on.computing_.emplace(subject, std::make_shared<Event>(loop)).first) {}
  ~Computing() {
    const std::shared_ptr<Event> ended = entry->second;
    thread.computing_.erase(entry);
    ended->Set();
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

  InsightThread& thread;
  std::map<Subject, std::shared_ptr<Event>>::iterator entry;
};

awaitable<Result<tuning::Insight>> InsightThread::Explain(Question question) {
  for (;;) {
    if (const tuning::Insight* known = Find(question.subject, question.revision)) co_return *known;
    const auto other = computing_.find(question.subject);
    if (other == computing_.end()) break;
    const std::shared_ptr<Event> ended = other->second;
    co_await ended->Wait();
  }
  const Computing computing(*this, question.subject, co_await boost::asio::this_coro::executor);
  TY_CO_TRY(Study study, co_await question.read());
  Result<tuning::Insight> insight = co_await Compute(std::move(study));
  if (insight) Keep({.subject = question.subject, .revision = question.revision, .insight = *insight});
  co_return insight;
}

awaitable<Result<tuning::Insight>> InsightThread::Compute(Study study) {
  const auto shared = std::make_shared<Study>(std::move(study));  // shared with the thread
  auto explain = [shared]() -> Result<tuning::Insight> {
    try {
      tuning::Insight insight = tuning::InsightOf(shared->spec, shared->trials);
      insight.stopped = std::move(shared->stopped);
      return insight;
    } catch (const std::exception& problem) {
      return std::unexpected(Internal(std::string("The model of the trials failed: ") + problem.what()));
    }
  };
  co_return co_await OnPool(thread_, std::move(explain));
}

const tuning::Insight* InsightThread::Find(const Subject& subject, const Revision& revision) const {
  const auto is_it = [&](const CachedInsight& one) {
    return one.subject == subject && one.revision.IsNoOlderThan(revision);
  };
  const auto found = std::ranges::find_if(kept_, is_it);
  return found == kept_.end() ? nullptr : &found->insight;
}

void InsightThread::Keep(CachedInsight one) {
  if (Find(one.subject, one.revision) != nullptr) return;  // one of a later revision is kept
  kept_.remove_if([&one](const CachedInsight& former) { return former.subject == one.subject; });
  kept_.push_front(std::move(one));
  if (kept_.size() > kInsightsKeptMax) kept_.pop_back();
}

}  // namespace trainyard::control
