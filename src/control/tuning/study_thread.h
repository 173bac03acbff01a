#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rules/tuning/space.h"

namespace trainyard::control {

/// One tuning job's study on the thread of the tuner: the loop passes changes, the thread keeps the trials
/// and computes. Suggest and JudgeTrial take every change into account that was made before the call. Loop
/// thread only; the pool has one thread and outlives the calls.
class StudyThread {
 public:
  StudyThread(boost::asio::thread_pool& pool, tuning::StudySpec spec);

  /// Sets the trial at this place of the list: adds a new one at the end, or replaces one that is there.
  void PutTrial(std::size_t position, tuning::Trial trial);

  /// As tuning::Tuner::Suggest. kInternal: the tuner threw something (no memory, a defect).
  boost::asio::awaitable<Result<std::vector<tuning::Point>>> Suggest(int count);
  /// Why the pending trial at this place should be stopped early; empty: it should continue. As
  /// tuning::JudgeTrial, errors as Suggest.
  boost::asio::awaitable<Result<std::string>> JudgeTrial(std::size_t position);

 private:
  struct Study;
  using Changes = std::list<std::pair<std::size_t, tuning::Trial>>;

  template <class F>
  auto Think(F with_study) -> boost::asio::awaitable<Result<std::invoke_result_t<F, Study&>>>;

  boost::asio::thread_pool& pool_;
  std::shared_ptr<Study> study_;  ///< of the pool's thread; shared: its task may outlive this
  Changes changes_;
};

}  // namespace trainyard::control
