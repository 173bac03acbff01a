#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"

namespace trainyard::store {

/// The values of jobs' secrets: beside the records, never in them. One file a job, mode 0600 in a folder of
/// mode 0700, from before the job is created until it ends. Files are small and written by one thread of its
/// own. Loop thread only.
class SecretStore {
 public:
  using Values = std::map<std::string, std::string>;  ///< by name; no value has a NUL

  /// Makes the folder. Blocking.
  [[nodiscard]] static Result<std::unique_ptr<SecretStore>> Open(std::string folder);

  /// Writes the values durably, before the job has a uid, under a name that its record tells: letters, digits
  /// and '-'. Then Keep or Drop. kAborted: something is staged under that name.
  boost::asio::awaitable<Status> Stage(std::string name, Values values);
  /// From now on they are the job's.
  boost::asio::awaitable<Status> Keep(std::string name, std::int64_t job_uid);
  boost::asio::awaitable<void> Drop(std::string name);

  /// kNotFound: the job has none.
  boost::asio::awaitable<Result<Values>> Read(std::int64_t job_uid);
  /// Nothing for a job that has none.
  boost::asio::awaitable<Status> Remove(std::int64_t job_uid);
  /// What a former server left, before anything is staged. `jobs`: those that go on, and the names that
  /// theirs were staged under. What was staged and not kept becomes theirs; what belongs to no job of them is
  /// removed: it ended while no server was there, or was never created.
  boost::asio::awaitable<Status> TakeOver(std::map<std::int64_t, std::string> jobs);

 private:
  explicit SecretStore(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string PathOf(std::int64_t job_uid) const;
  [[nodiscard]] std::string StagedPath(const std::string& name) const;

  std::string folder_;
  std::set<std::string> staged_;  ///< and neither kept nor dropped
  boost::asio::thread_pool files_{1};
};

}  // namespace trainyard::store
