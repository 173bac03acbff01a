#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/async/event.h"
#include "base/result.h"
#include "rules/tuning/insight.h"

namespace trainyard::control {

/// How many tuning jobs and studies keep their insight, until the job or study changes.
inline constexpr std::size_t kInsightsKeptMax = 32;

/// Insights into the trials of tuning jobs and studies, computed on a separate thread: suggestions do not
/// wait for them. One insight at a time is computed for each subject: other callers wait for it. Loop thread
/// only; calls must have ended before the destructor runs.
class InsightThread {
 public:
  struct Subject {
    enum class Kind : std::uint8_t { kJob, kStudy };
    Kind kind = Kind::kJob;
    std::int64_t uid = 0;
    friend auto operator<=>(const Subject&, const Subject&) = default;
  };
  /// A different revision means that the subject may have changed.
  struct Revision {
    std::int64_t changes = 0;
    std::int64_t deletions = 0;
    /// Whether a result of this revision answers a question about revision `other`: both numbers only grow.
    [[nodiscard]] bool IsNoOlderThan(const Revision& other) const noexcept {
      return changes >= other.changes && deletions >= other.deletions;
    }
  };
  struct Study {
    tuning::StudySpec spec;
    std::vector<tuning::Trial> trials;
    std::vector<tuning::Insight::Stopped> stopped;
  };
  struct Question {
    Subject subject;
    Revision revision;
    /// Called if no insight of this revision is cached. It must read a state that is no older than the
    /// revision.
    std::function<boost::asio::awaitable<Result<Study>>()> read;
  };

  /// As tuning::InsightOf, with `stopped`. kInternal: it threw something (no memory, a defect); else the
  /// errors of `read`.
  boost::asio::awaitable<Result<tuning::Insight>> Explain(Question question);

 private:
  struct CachedInsight {
    Subject subject;
    Revision revision;
    tuning::Insight insight;
  };
  struct Computing;
  [[nodiscard]] const tuning::Insight* Find(const Subject& subject, const Revision& revision) const;
  void Keep(CachedInsight one);
  boost::asio::awaitable<Result<tuning::Insight>> Compute(Study study);

  std::list<CachedInsight> kept_;                        ///< newest first
  std::map<Subject, std::shared_ptr<Event>> computing_;  ///< shared with waiting callers
  boost::asio::thread_pool thread_{1};
};

}  // namespace trainyard::control
